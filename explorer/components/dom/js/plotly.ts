/** The functions of plotly.js that are used. */

export interface Plotly {
  react: (node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>;
  relayout: (node: HTMLElement, update: object) => Promise<unknown>;
  purge: (node: HTMLElement) => void;
}

/** An element that Plotly has drawn into. */
export type PlotlyElement = HTMLElement & {
  on: (event: string, listener: () => void) => void;
  layout: { xaxis: { range: number[] }; yaxis: { range: number[] } };
};

export type PlotlyWindow = Window & { Plotly?: Plotly; explorerPlotly?: Promise<Plotly> };

/**
 * Plotly from a file, loaded once a page.
 * @param address relative to the page; that on the app's own server where none is given
 */
export function servedPlotly(address = "plotly.min.js"): Promise<Plotly> {
  const page = window as PlotlyWindow;
  page.explorerPlotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(address, document.baseURI).href;
    script.onload = () => (page.Plotly ? resolve(page.Plotly) : reject(new Error(script.src)));
    script.onerror = () => {
      page.explorerPlotly = undefined; // the next component may try again
      reject(new Error(script.src));
    };
    document.head.append(script);
  });
  return page.explorerPlotly;
}
