import { element, type Part, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { shortNumber } from "../../dom/js/numbers.ts";
import { createRadios } from "../../dom/js/radios.ts";
import type { Store } from "../../dom/js/store.ts";
import { headAt, siteOf } from "../../trace/js/stepState.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { headsOf, meanOf, measuredHead, metricsOf } from "./headRoles.ts";
import { createSelect } from "./select.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { MeasuredHead } from "./viewPayload.ts";

/** Which metric is shown under the heads, their order, which pass. */
export interface HeadFilter {
  metric: string; // "" for the default of the site
  role: string; // "" for any, "none" for heads without one
  sorted: boolean;
  least: number; // 0..1 between the smallest and the largest number
}

export interface FilteredHead {
  index: number; // in order of layer and head
  layer: number;
  head: number;
  measured: MeasuredHead | undefined;
  number: number | null;
  passes: boolean;
}

export const NO_FILTER: HeadFilter = { metric: "", role: "", sorted: false, least: 0 };

/** The controls to sort and filter. */
export function createHeadFilter(
  context: TraceContext,
  frame: ViewFrame,
  store: Store<HeadFilter>,
): Part {
  const { say } = frame;
  const filter = store.values;
  const metric = createSelect(say, "metric", (value) => store.set({ metric: value, least: 0 }));
  const role = createSelect(say, "role", (value) => store.set({ role: value }));
  const group = { names: ["natural", "sorted"], prefix: "order", label: "order", small: true };
  const radios = createRadios(say, group, (name) => store.set({ sorted: name === "sorted" }));
  const least = element("input", {
    type: "range",
    min: 0,
    max: 100,
    testid: "least",
    "aria-label": say("least"),
    title: say("least_title"),
    on: { input: () => store.set({ least: Number(least.value) / 100 }) },
  });
  const bound = element("output", { class: "bound", testid: "bound" });
  const count = element("span", { class: "count", testid: "count", role: "status" });
  const threshold = element("label", { class: "choice row" }, say("least"), least, bound);
  const node = element("div", {
    class: "head-filter row wrap",
    role: "toolbar",
    "aria-label": say("order_tools"),
  });
  const close = context.say("words_close");
  const words = createExplanation("metric-words", { label: say("metric_words"), close }, () => {
    const first = metricShown(frame, context.state.site, filter);
    const names = metricsOf(frame, context.state.site).filter((name) => name !== first);
    return [first, ...names].map((name) => wordEntry(`metric_${name}`, say, context.say));
  });
  const roleWords = createExplanation("role-words", { label: say("role_words"), close }, () =>
    frame.payload.header.roles.map((name) => wordEntry(name, frame.roleName, context.say)),
  );
  const tools = [metric.element, words.element, radios.element];
  tools.push(role.element, roleWords.element, threshold);
  node.append(...tools, count);
  const draw = () => {
    const { site } = context.state;
    const names = metricsOf(frame, site);
    for (const part of tools) part.hidden = !names.length;
    const shown = metricShown(frame, site, filter);
    metric.offer(
      names.map((name) => [name, say(`metric_${name}`)]),
      shown,
      shown && say(`metric_${shown}_title`),
    );
    role.offer(roleChoices(frame, site), filter.role);
    radios.check(filter.sorted ? "sorted" : "natural");
    least.value = String(Math.round(filter.least * 100));
    write(bound, names.length ? `≥ ${shortNumber(leastNumber(frame, site, filter))}` : "");
    const heads = filteredHeads(context, frame, filter);
    write(
      count,
      say("count", { count: heads.filter((one) => one.passes).length, all: heads.length }),
    );
  };
  return { element: node, views: [draw] };
}

/** Any role, those that a head of the site has, and none. */
function roleChoices(frame: ViewFrame, site: SiteName): [string, string][] {
  const { role_groups: groups } = frame.payload.header;
  const held = new Set(headsOf(frame, site).flatMap((one) => one.roles));
  return [
    ["", frame.say("role_any")],
    ...(groups[site] ?? []).filter(([key]) => held.has(key)),
    ["none", frame.roleName("none")],
  ];
}

/** The metric under the heads: the chosen one where the site has it, else the most telling one. */
export function metricShown(frame: ViewFrame, site: SiteName, { metric }: HeadFilter) {
  const names = metricsOf(frame, site);
  return (
    [metric, "gold_weight", "positional", "confidence"].find((name) => names.includes(name)) ?? ""
  );
}

/** The number that a head needs to pass. */
function leastNumber(frame: ViewFrame, site: SiteName, filter: HeadFilter) {
  const metric = metricShown(frame, site, filter);
  const means = headsOf(frame, site).map((one) => meanOf(one, metric));
  const numbers = means.filter((value) => value !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return filter.least === 0 ? low : low + (high - low) * filter.least;
}

/** The heads of the site in their order, and whether they pass the filter. */
export function filteredHeads(
  context: TraceContext,
  frame: ViewFrame,
  filter: HeadFilter,
): FilteredHead[] {
  const site = siteOf(context);
  const metric = metricShown(frame, site.name, filter);
  const least = metric && filter.least > 0 ? leastNumber(frame, site.name, filter) : -Infinity;
  const heads = Array.from({ length: site.layers * site.heads }, (_, index) => {
    const key = headAt(index, site.heads);
    const measured = measuredHead(frame, { site: site.name, ...key });
    const number = meanOf(measured, metric);
    const enough = least === -Infinity || (number ?? 0) >= least;
    return { ...key, index, measured, number, passes: hasRole(measured, filter.role) && enough };
  });
  if (!filter.sorted) return heads;
  const rank = (one: FilteredHead) => one.number ?? -Infinity;
  return heads.sort(
    (one, other) =>
      Number(other.passes) - Number(one.passes) ||
      rank(other) - rank(one) ||
      one.index - other.index,
  );
}

/** Whether a head has the role asked for. */
function hasRole(measured: MeasuredHead | undefined, role: string) {
  if (!role) return true;
  if (!measured) return false;
  return role === "none" ? measured.roles.length === 0 : measured.roles.includes(role);
}
