/**
 * The functions of plotly.js that are used.
 * @typedef {object} Plotly
 * @property {(node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>} react
 * @property {(node: HTMLElement, update: object) => Promise<unknown>} relayout
 * @property {(node: HTMLElement) => void} purge
 *
 * @typedef {HTMLElement & {
 *   on: (event: string, listener: () => void) => void,
 *   layout: {xaxis: {range: number[]}, yaxis: {range: number[]}},
 * }} PlotlyElement an element that Plotly has drawn into
 *
 * @typedef {Window & {Plotly?: Plotly, explorerPlotly?: Promise<Plotly>}} PlotlyWindow
 */

/**
 * Plotly from a file, loaded once a page.
 * @param {string} [address] relative to the page; that on the app's own server where none is given
 * @returns {Promise<Plotly>}
 */
export function servedPlotly(address = "plotly.min.js") {
  const page = /** @type {PlotlyWindow} */ (window);
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
