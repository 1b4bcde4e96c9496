/**
 * What the player reports of the trace of a request, and asks for: other tokens in its output.
 *
 * @import { Selection } from "../../shared/js/look.js"
 * @import { LivePage } from "./livePage.js"
 * @import { LiveRequest } from "./modelWorker.js"
 */

import { sameSource } from "./address.js";

/**
 * @param {LivePage} page
 * @param {LiveRequest} request
 */
export function playerListeners(page, request) {
  /** @param {[number, number][]} forced @param {number} step */
  const force = (forced, step) => {
    const now = page.picture.selection();
    if (!now || !sameSource(page.asked.request, request)) return; // is being replaced
    const { site, layer, head, ahead } = now;
    const view = { site, layer, head, ahead, step, ...page.keptView() };
    page.ask({ request: { ...request, forced }, view });
  };
  return {
    onState: (/** @type {Selection} */ selection) => {
      page.messages.use();
      if (page.asked.request !== page.shown) return; // the address is of a text on its way
      page.writeAddress(selection, true);
    },
    onForce: (
      /** @type {number} */ step,
      /** @type {number} */ id,
      /** @type {boolean} */ alone,
    ) => {
      const kept = request.forced.filter(([at]) => (alone ? at !== step : at < step));
      const forced = /** @type {[number, number][]} */ ([...kept, [step, id]]);
      force(
        forced.sort(([one], [other]) => one - other),
        step,
      );
    },
    onUnforce: (/** @type {number} */ step) =>
      force(
        request.forced.filter(([at]) => at !== step),
        step,
      ),
    onReset: () => force([], page.picture.selection()?.step ?? 1),
  };
}
