/** Sort and filter: which number stands under the heads, in what order, and which stand out. */
function createOrder(context, frame) {
  const { say } = frame;
  const metric = choiceElement(frame, "metric", (value) => context.set({ metric: value, least: 0 }));
  const role = choiceElement(frame, "role", (value) => context.set({ role: value }));
  const words = { names: ["natural", "sorted"], prefix: "order", label: "order", small: true };
  const radios = createRadios(frame, words, (name) => context.set({ sorted: name === "sorted" }));
  const least = element("input", {
    type: "range",
    min: 0,
    max: 100,
    testid: "least",
    "aria-label": say("least"),
    title: say("least_title"),
    on: { input: () => context.set({ least: Number(least.value) / 100 }) },
  });
  const bound = element("output", { class: "bound", testid: "bound" });
  const count = element("span", { class: "count", testid: "count", role: "status" });
  const threshold = element("label", { class: "choice" }, say("least"), least, bound);
  const node = element("div", { class: "order", role: "toolbar", "aria-label": say("order_tools") });
  node.append(metric.element, radios.element, role.element, threshold, count);
  const update = (changed) => {
    if (!["trace", "site", "metric", "role", "sorted", "least", "parcel"].some((name) => changed.has(name))) return;
    const names = metricsOf(frame, context.state.site);
    for (const part of [metric.element, radios.element, role.element, threshold]) part.hidden = !names.length;
    metric.offer(names.map((name) => [name, say(`metric_${name}`)]), metricShown(context, frame));
    const held = new Set((frame.parcel.heads[context.state.site] ?? []).flatMap((one) => one.roles));
    const roles = frame.parcel.roles.filter((name) => held.has(name)).map((name) => [name, frame.role(name)]);
    role.offer([["", say("role_any")], ...roles, ["none", frame.role("none")]], context.state.role);
    radios.check(context.state.sorted ? "sorted" : "natural");
    least.value = Math.round(context.state.least * 100);
    write(bound, names.length ? `≥ ${shortNumber(leastNumber(context, frame))}` : "");
    const heads = shownHeads(context, frame);
    write(count, say("count", { count: heads.filter((one) => one.passes).length, all: heads.length }));
  };
  return { element: node, update };
}

/** The metric under the heads: the chosen one where the site has it, else what says most there. */
function metricShown({ state }, frame) {
  const names = metricsOf(frame, state.site);
  return [state.metric, "gold_weight", "positional", "confidence"].find((name) => names.includes(name)) ?? "";
}

/** The number a head needs to stand out. */
function leastNumber(context, frame) {
  const metric = metricShown(context, frame);
  const heads = frame.parcel.heads[context.state.site] ?? [];
  const numbers = heads.map((one) => meanOfMetric(one, metric)).filter((value) => value !== null);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return context.state.least === 0 ? low : low + (high - low) * context.state.least;
}

/** The site's heads in their order: layer, head, what was found, and whether they pass the filter. */
function shownHeads(context, frame) {
  const site = siteOf(context);
  const { role, sorted } = context.state;
  const metric = metricShown(context, frame);
  const least = metric && context.state.least > 0 ? leastNumber(context, frame) : -Infinity;
  const heads = Array.from({ length: site.layers * site.heads }, (_, place) => {
    const key = { layer: Math.floor(place / site.heads), head: place % site.heads };
    const found = foundOf(frame, { site: site.name, ...key });
    const number = meanOfMetric(found, metric);
    const plays = !role || (role === "none" ? found?.roles.length === 0 : found?.roles.includes(role));
    return { ...key, place, found, number, passes: Boolean(plays) && (least === -Infinity || number >= least) };
  });
  if (!sorted) return heads;
  const rank = (one) => one.number ?? -Infinity;
  return heads.sort((one, other) => other.passes - one.passes || rank(other) - rank(one) || one.place - other.place);
}
