import { type Plotly, type PlotlyWindow, servedPlotly } from "../../dom/js/plotly.ts";
import { frameShown } from "../../page/js/frame.ts";
import { bytesOf } from "./pageResources.ts";

const ARRIVED = "explorer-plotly"; // event on a page around several players
const PATIENCE = 20_000; // ms

/**
 * The source of plotly.js: from the page itself, else from another player in the page around both,
 * as in a notebook.
 */
async function sourceOfPlotly(): Promise<string> {
  const element = document.getElementById("plotly");
  const own = element ? new TextDecoder().decode(await bytesOf(element)) : "";
  const shared = window.parent as Window & { explorerPlotlySource?: string };
  try {
    if (own && shared !== window) {
      shared.explorerPlotlySource = own;
      shared.dispatchEvent(new Event(ARRIVED));
    }
    if (!own && !shared.explorerPlotlySource) {
      await new Promise((resolve) => {
        shared.addEventListener(ARRIVED, resolve, { once: true });
        setTimeout(resolve, PATIENCE);
      });
    }
    return own || shared.explorerPlotlySource || "";
  } catch {
    return own; // the page around is of another origin
  }
}

async function runPlotly(): Promise<Plotly> {
  const script = document.createElement("script");
  script.textContent = await sourceOfPlotly();
  document.head.append(script);
  const { Plotly } = window as PlotlyWindow;
  if (!Plotly) throw new Error("no Plotly");
  return Plotly;
}

let running: Promise<Plotly> | undefined;

/**
 * Plotly of a page without the app, run once, after the first picture is on screen: from the page
 * itself or, on the static site, from the file that its pages share.
 */
export async function embeddedPlotly(): Promise<Plotly> {
  await frameShown();
  const file = document.getElementById("plotly")?.dataset.src;
  if (file) return servedPlotly(file);
  running ??= runPlotly();
  return running;
}
