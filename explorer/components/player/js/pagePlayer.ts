import type { Look } from "../../page/js/lessonOnPage.ts";
import { readTrace } from "../../trace/js/trace.ts";
import { embeddedPlotly } from "./embeddedPlotly.ts";
import { bytesOf, resourcesIn } from "./pageResources.ts";
import { mountPlayer } from "./player.ts";

/**
 * Show a trace that an exported page holds.
 * @param part of the page, with all that it holds of this trace
 * @param look what to show first, in place of what the payload says
 */
export async function mountFromPage(
  parent: HTMLElement,
  part: ParentNode,
  payload: HTMLElement,
  look?: Look,
) {
  const trace = readTrace(await bytesOf(payload));
  if (look) Object.assign(trace.header.view, look, { guess: Boolean(look.guess) });
  const resources = resourcesIn(part);
  return mountPlayer(parent, trace, { plotly: embeddedPlotly, resources, alone: !look });
}
