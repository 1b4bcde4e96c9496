/** What was found of a head on a batch; undefined where nothing was. */
function foundOf(frame, { site, layer, head }) {
  return frame.parcel.heads[site]?.find((one) => one.layer === layer && one.head === head);
}

/** The metrics that say something about a site's heads, in the order they were measured. */
function metricsOf(frame, site) {
  const heads = frame.parcel.heads[site] ?? [];
  return frame.parcel.metrics.filter((name) => heads.some((one) => one.metrics[name]?.[0] !== null));
}

/** The mean of a metric; null where it has none. */
function meanOfMetric(found, metric) {
  return found?.metrics[metric]?.[0] ?? null;
}

/** A head's roles in words: "no clear role" is an answer, "not measured" another. */
function rolesInWords(frame, found) {
  if (!found) return "";
  return found.roles.map(frame.role).join(frame.say("comma")) || frame.role("none");
}

/** Everything about a head in lines: its roles with their scores, then the chosen metric. */
function verdictLines(frame, key, metric) {
  const found = foundOf(frame, key);
  if (!found) return [frame.say("not_measured")];
  const roles = found.roles.map((name) =>
    frame.say("role_score", { role: frame.role(name), score: shortNumber(found.scores[name]) }),
  );
  const [mean, low, high] = found.metrics[metric] ?? [null, null, null];
  const facts = { metric: frame.say(`metric_${metric}`), value: shortNumber(mean), low: shortNumber(low), high: shortNumber(high) };
  return [...(roles.length ? roles : [frame.role("none")]), ...(mean === null ? [] : [frame.say("metric_interval", facts)])];
}
