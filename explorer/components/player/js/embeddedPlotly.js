import { frameShown } from "../../shared/js/frame.js";
import { servedPlotly } from "../../shared/js/plotly.js";
import { bytesOf } from "./pageResources.js";

/** @import { Plotly, PlotlyWindow } from "../../shared/js/plotly.js" */

const ARRIVED = "explorer-plotly"; // event on a page around several players
const PATIENCE = 20_000; // ms

/**
 * The source of plotly.js: from the page itself, else from another player in the page around both,
 * as in a notebook.
 * @returns {Promise<string>}
 */
async function sourceOfPlotly() {
  const element = document.getElementById("plotly");
  const own = element ? new TextDecoder().decode(await bytesOf(element)) : "";
  const shared = /** @type {Window & {explorerPlotlySource?: string}} */ (window.parent);
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

/** @returns {Promise<Plotly>} */
async function runPlotly() {
  const script = document.createElement("script");
  script.textContent = await sourceOfPlotly();
  document.head.append(script);
  const { Plotly } = /** @type {PlotlyWindow} */ (window);
  if (!Plotly) throw new Error("no Plotly");
  return Plotly;
}

/** @type {Promise<Plotly> | undefined} */
let running;

/**
 * Plotly of a page without the app, run once, after the first picture is on screen: from the page
 * itself or, on the static site, from the file that its pages share.
 * @returns {Promise<Plotly>}
 */
export async function embeddedPlotly() {
  await frameShown();
  const file = document.getElementById("plotly")?.dataset.src;
  if (file) return servedPlotly(file);
  running ??= runPlotly();
  return running;
}
