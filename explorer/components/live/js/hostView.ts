/**
 * How a guest's page gets what the host of a class shows: it computes the trace itself or, where it
 * cannot, asks the server for the host's.
 */

import type { ClassView } from "../../classroom/js/classroom.ts";
import { READ, readAddress } from "./address.ts";
import type { InitialView } from "./initialView.ts";
import type { LiveModel } from "./liveModel.ts";
import type { LiveRequest } from "./modelWorker.ts";

/** key: of the host's trace */
export type Source = { request: LiveRequest; view: InitialView } | { key: string };

/**
 * @param models of this page
 * @param able whether the browser could compute it so far
 * @returns null where neither is possible
 */
export function sourceOf(
  { query, trace }: Pick<ClassView, "query" | "trace">,
  models: LiveModel[],
  able = true,
): Source | null {
  const { request, view, refused } = readAddress(`${new URLSearchParams(query)}`, {
    models,
    languages: {},
  });
  const read = Object.keys(query).every((name) => READ.includes(name)) && "model" in query;
  if (able && read && !refused.length) return { request, view };
  return trace ? { key: trace } : null;
}

/** A word for what is shown or asked for: equal for the same trace. */
export function wordOf(source: Source) {
  return "key" in source ? source.key : JSON.stringify(source.request);
}
