import { readTrace } from "../../shared/js/trace.js";
import { embeddedPlotly } from "./embeddedPlotly.js";
import { bytesOf, resourcesIn } from "./pageResources.js";
import { mountPlayer } from "./player.js";

/** @import { Look } from "../../shared/js/lessonEvents.js" */

/**
 * Show a trace that an exported page holds.
 * @param {HTMLElement} parent
 * @param {ParentNode} part of the page, with all that it holds of this trace
 * @param {HTMLElement} payload
 * @param {Look} [look] what to show first, in place of what the payload says
 */
export async function mountFromPage(parent, part, payload, look) {
  const trace = readTrace(await bytesOf(payload));
  if (look) Object.assign(trace.header.view, look, { guess: Boolean(look.guess) });
  return mountPlayer(parent, trace, { plotly: embeddedPlotly, resources: resourcesIn(part) });
}
