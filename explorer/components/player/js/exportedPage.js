import { readTrace } from "../../shared/js/trace.js";
import { bytesOf, headOfPage, headsOfPage, insideOfPage } from "./pageHeads.js";
import { mountPlayer } from "./player.js";

/** @import { Plotly, PlotlyWindow } from "../../shared/js/plotly.js" */

/**
 * The text of an element of the page.
 * @param {string} id
 */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}

const ARRIVED = "explorer-plotly"; // event on a page around several players
const PATIENCE = 20_000; // ms

/**
 * The source of plotly.js: from the page itself, else from another player in the page around both,
 * as in a notebook.
 * @returns {Promise<string>}
 */
async function sourceOfPlotly() {
  const own = textOf("plotly");
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

/**
 * Plotly, run after the first picture is on screen.
 * @returns {Promise<Plotly>}
 */
async function embeddedPlotly() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement("script");
  script.textContent = await sourceOfPlotly();
  document.head.append(script);
  const { Plotly } = /** @type {PlotlyWindow} */ (window);
  if (!Plotly) throw new Error("no Plotly");
  return Plotly;
}

const payload = /** @type {HTMLElement} */ (document.getElementById("payload"));
const parent = /** @type {HTMLElement} */ (document.getElementById("player"));
const trace = readTrace(await bytesOf(payload));
if (trace.heads) trace.header.held = headsOfPage();
mountPlayer(parent, trace, {
  plotly: embeddedPlotly,
  fetchHead: headOfPage,
  inside: insideOfPage(),
});
