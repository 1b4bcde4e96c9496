import { shortNumber } from "./numbers.js";

/** @import { SiteName } from "../../shared/js/trace.js" */
/** @import { ViewFrame } from "./viewFrame.js" */
/** @import { MeasuredHead } from "./viewPayload.js" */

/** @typedef {{site: SiteName, layer: number, head: number}} HeadKey */

/**
 * What was measured of a head; undefined where it was not measured.
 * @param {ViewFrame} frame
 * @param {HeadKey} key
 */
export function measuredHead({ payload }, { site, layer, head }) {
  return payload.header.heads[site]?.find((one) => one.layer === layer && one.head === head);
}

/**
 * The metrics that are defined for a site, in the order of the report.
 * @param {ViewFrame} frame
 * @param {SiteName} site
 */
export function metricsOf({ payload }, site) {
  const heads = payload.header.heads[site] ?? [];
  return payload.header.metrics.filter((name) => heads.some((one) => meanOf(one, name) !== null));
}

/**
 * The mean of a metric; null where it has none.
 * @param {MeasuredHead | undefined} measured
 * @param {string} metric
 */
export function meanOf(measured, metric) {
  return measured?.metrics[metric]?.[0] ?? null;
}

/**
 * The roles of a head, or the nearest one; "" where it was not measured.
 * @param {MeasuredHead | undefined} measured
 */
export function roleText(measured) {
  return measured?.role_text ?? "";
}

/**
 * A metric with its confidence interval.
 * @param {ViewFrame} frame
 * @param {MeasuredHead} measured
 * @param {string} metric
 * @param {(value: number | null) => string} number
 */
export function metricLine(frame, measured, metric, number) {
  const [mean, low, high] = measured.metrics[metric] ?? [null, null, null];
  if (mean === null) return null;
  const name = frame.say(`metric_${metric}`);
  if (low === null) return `${name} ${number(mean)}`; // of a single sentence
  const facts = {
    metric: name,
    value: number(mean),
    low: number(low),
    high: number(high),
  };
  return frame.say("metric_interval", facts);
}

/**
 * A head in lines: its roles with their scores, then a metric.
 * @param {ViewFrame} frame
 * @param {HeadKey} key
 * @param {string} metric
 */
export function roleLines(frame, key, metric) {
  const measured = measuredHead(frame, key);
  if (!measured) return frame.payload.header.unmeasured ? [] : [frame.say("not_measured")];
  const line = metricLine(frame, measured, metric, shortNumber);
  return [...measured.role_lines, ...(line === null ? [] : [line])];
}
