import { shortNumber } from "../../dom/js/numbers.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { ViewFrame } from "./viewFrame.ts";
import type { MeasuredHead } from "./viewPayload.ts";

const DIFFERENCE = /^(zero|mean|only)_/; // without the head, or with it alone, minus as it is

type HeadKey = { site: SiteName; layer: number; head: number };

/** What was measured of a head; undefined where it was not measured. */
export function measuredHead(frame: ViewFrame, { site, layer, head }: HeadKey) {
  return headsOf(frame, site).find((one) => one.layer === layer && one.head === head);
}

/** The measured heads of a site, or of all. */
export function headsOf({ payload }: ViewFrame, site?: SiteName): MeasuredHead[] {
  const { heads } = payload.header;
  return site ? (heads[site] ?? []) : Object.values(heads).flat();
}

/** The metrics that are defined for a site, or for any, in the order of the report. */
export function metricsOf(frame: ViewFrame, site?: SiteName) {
  const heads = headsOf(frame, site);
  return frame.payload.header.metrics.filter((name) =>
    heads.some((one) => meanOf(one, name) !== null),
  );
}

/** The mean of a metric; null where it has none. */
export function meanOf(measured: MeasuredHead | undefined, metric: string) {
  return measured?.metrics[metric]?.[0] ?? null;
}

/** The roles of a head in a few words, or the nearest one; "" where it was not measured. */
export function roleCaption(measured: MeasuredHead | undefined) {
  return measured?.role_caption ?? "";
}

/** What the number under a head is, and of how many sentences. */
export function numberLine({ payload, say }: ViewFrame, metric: string) {
  const { strings, sentences, linked_on: linkedOn } = payload.header;
  const plain = `metric_${metric}_plain`;
  const name = say(plain in strings ? plain : `metric_${metric}`);
  const count = metric.startsWith("gold_") ? (linkedOn ?? sentences) : sentences;
  return say("figure_number", { metric: name, count: count ?? 0 });
}

/** Whether a metric is a difference; every other one starts at 0. */
export function isDifference(metric: string) {
  return DIFFERENCE.test(metric);
}

/** A metric with its confidence interval, where `isWhole`. */
export function metricLine(
  frame: ViewFrame,
  measured: MeasuredHead,
  metric: string,
  number: (value: number | null) => string,
  isWhole = true,
) {
  const [mean, low, high] = measured.metrics[metric] ?? [null, null, null];
  if (mean === null) return null;
  const name = frame.say(`metric_${metric}`);
  // A single sentence has no interval, and one from 0 to 0, where none changes, would seem sure.
  const isKnown = low !== null && (low !== 0 || high !== 0);
  if (!isKnown || !isWhole) return `${name} ${number(mean)}`;
  const facts = {
    metric: name,
    value: number(mean),
    low: number(low),
    high: number(high),
  };
  return frame.say("metric_interval", facts);
}

/** A head in lines: its roles with their scores, then a metric, where `isWhole` with its interval. */
export function roleLines(frame: ViewFrame, key: HeadKey, metric: string, isWhole = true) {
  const measured = measuredHead(frame, key);
  if (!measured) return frame.payload.header.unmeasured ? [] : [frame.say("not_measured")];
  const line = metricLine(frame, measured, metric, shortNumber, isWhole);
  return [...measured.role_lines, ...(line === null ? [] : [line])];
}
