import { readTrace } from "../../shared/js/trace.js";
import { mountPlayer } from "./player.js";

/** @import { Plotly, PlotlyWindow } from "../../shared/js/plotly.js" */

/**
 * The text of an element of the page.
 * @param {string} id
 */
function textOf(id) {
  return document.getElementById(id)?.textContent ?? "";
}

/**
 * Plotly from the page itself, run after the first picture is on screen.
 * @returns {Promise<Plotly>}
 */
async function embeddedPlotly() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const script = document.createElement("script");
  script.textContent = textOf("plotly");
  document.head.append(script);
  const { Plotly } = /** @type {PlotlyWindow} */ (window);
  if (!Plotly) throw new Error("no Plotly");
  return Plotly;
}

const payload = Uint8Array.from(atob(textOf("payload")), (letter) => letter.charCodeAt(0));
const parent = /** @type {HTMLElement} */ (document.getElementById("player"));
mountPlayer(parent, readTrace(payload), { plotly: embeddedPlotly });
