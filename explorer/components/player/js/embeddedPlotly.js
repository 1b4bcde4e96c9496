import { frameShown } from "../../shared/js/frame.js";
import { bytesOf } from "./pageHeads.js";

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
  await frameShown();
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
 * Plotly of an exported page, run once, after the first picture is on screen.
 * @returns {Promise<Plotly>}
 */
export function embeddedPlotly() {
  running ??= runPlotly();
  return running;
}
