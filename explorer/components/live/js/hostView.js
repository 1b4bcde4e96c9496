/**
 * How a guest's page gets what the host of a class shows: it computes the trace itself or, where it
 * cannot, asks the server for the host's.
 *
 * @import { ClassView } from "../../classroom/js/classroom.js"
 * @import { LiveModel } from "./liveModel.js"
 * @import { LiveRequest } from "./modelWorker.js"
 * @import { InitialView } from "./initialView.js"
 * @typedef {{request: LiveRequest, view: InitialView} | {key: string}} Source key: of the host's trace
 */

import { FIELDS, MIRRORED_STATE } from "../../shared/js/look.js";
import { READ, readAddress } from "./address.js";

/** What guests do not follow. */
const OWN = new Set(
  FIELDS.filter(
    ({ state }) => !state || !(/** @type {readonly string[]} */ (MIRRORED_STATE).includes(state)),
  ).map(({ name }) => String(name)),
);

/**
 * @param {Pick<ClassView, "query" | "trace">} view
 * @param {LiveModel[]} models of this page
 * @param {boolean} able whether the browser could compute it so far
 * @returns {Source | null} null where neither is possible
 */
export function sourceOf({ query, trace }, models, able = true) {
  const followed = Object.entries(query).filter(([name]) => !OWN.has(name));
  const fragment = `${new URLSearchParams(followed)}`;
  const { request, view, refused } = readAddress(fragment, models, []);
  const read = followed.every(([name]) => READ.includes(name)) && "model" in query;
  if (able && read && !refused.length) return { request, view };
  return trace ? { key: trace } : null;
}

/**
 * A word for what is shown or asked for: equal for the same trace.
 * @param {Source} source
 */
export function wordOf(source) {
  return "key" in source ? source.key : JSON.stringify(source.request);
}
