import { latestOnly } from "./latestOnly.ts";

/** The functions of plotly.js that are used. */

export interface Plotly {
  react: (node: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>;
  relayout: (node: HTMLElement, update: object) => Promise<unknown>;
  purge: (node: HTMLElement) => void;
  toImage: (chart: object, options: object) => Promise<string>;
}

/** What Plotly draws, on screen as in a saved figure; `layout`: with its size, px. */
export interface Chart {
  data: object[];
  layout: { width: number; height: number; [setting: string]: unknown };
}

/** What Plotly tells of a click, a zoom or what the pointer is on. */
export interface PlotlyEvent {
  points?: { x: number; y: number; pointNumber: number | [number, number]; customdata?: unknown }[];
}

/** An element that Plotly has drawn into. */
export type PlotlyElement = HTMLElement & {
  on: (event: string, listener: (event: PlotlyEvent) => void) => void;
  layout: { xaxis: { range: number[] }; yaxis: { range: number[] } };
};

export type PlotlyWindow = Window & { Plotly?: Plotly; explorerPlotly?: Promise<Plotly> };

const CONFIG = { displayModeBar: false, doubleClick: "reset", responsive: false, showTips: false };

/**
 * How to draw charts into an element: one at a time, and of those that come meanwhile the last.
 * @param listeners by Plotly's names of events
 */
export function createPlot(
  node: HTMLElement,
  signal: AbortSignal,
  listeners: Record<string, (event: PlotlyEvent) => void> = {},
): (plotly: Plotly, chart: Chart) => Promise<void> {
  const plot = node as PlotlyElement;
  let next: { plotly: Plotly; chart: Chart };
  let listening = false;
  const draw = latestOnly(async () => {
    await new Promise((done) => setTimeout(done)); // what is quicker to draw is on screen first
    if (signal.aborted) return;
    const { plotly, chart } = next;
    await plotly.react(plot, chart.data, chart.layout, CONFIG);
    if (listening) return;
    listening = true;
    for (const [event, listener] of Object.entries(listeners)) plot.on(event, listener);
    signal.addEventListener("abort", () => plotly.purge(plot));
  });
  return (plotly, chart) => {
    next = { plotly, chart };
    return draw();
  };
}

/** A text as Plotly shows it letter by letter: it reads some HTML, and formulas between dollars. */
export function plain(text: string) {
  const marks = { "&": "&amp;", "<": "&lt;", ">": "&gt;", $: "&#36;" };
  return text.replace(/[&<>$]/g, (mark) => marks[mark as keyof typeof marks]);
}

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
