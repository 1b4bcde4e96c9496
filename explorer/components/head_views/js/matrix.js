const SIGNED = /^(zero|mean|only)_/; // changes; every other metric is from 0 on

/** Rebuilt only for another language. */
function kindOf() {
  return "matrix";
}

/** Every head by layer and head, one metric at a time, with its number in the cell. */
function openRoom(root, parcel, options) {
  const frame = createFrame(root, parcel, options);
  const select = choiceElement(frame, "metric", (value) => draw(value));
  const about = element("p", { class: "about", testid: "metric-about" });
  const tables = element("div", { class: "matrices" });
  const bar = element("canvas", { class: "bar", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks" });
  const legend = element("div", { class: "legend" }, element("div", { class: "bar-box" }, bar, marks));
  let shown = "";
  const draw = (metric = shown) => {
    const names = frame.parcel.metrics.filter((name) => allHeads(frame).some((one) => one.metrics[name]?.[0] !== null));
    shown = names.includes(metric) ? metric : (names[0] ?? "");
    select.offer(names.map((name) => [name, frame.say(`metric_${name}`)]), shown);
    write(about, frame.say(`metric_${shown}_title`));
    const scale = metricScale(frame, shown);
    tables.replaceChildren(...Object.keys(frame.parcel.heads).map((site) => siteTable(frame, site, shown, scale)));
    drawBar(bar, marks, scale);
  };
  frame.root.append(element("div", { class: "tools" }, select.element, legend, about), tables);
  frame.recolour.push(() => draw());
  watchFrame(frame, () => {});
  draw();
  return {
    listen: () => {},
    update: (next) => {
      frame.parcel = next;
      draw();
    },
    destroy: frame.destroy,
  };
}

/** The heads of all sites. */
function allHeads({ parcel }) {
  return Object.values(parcel.heads).flat();
}

/** The colours of a metric: from 0 to its largest number, or around 0 for a change. */
function metricScale(frame, metric) {
  const numbers = allHeads(frame).map((one) => Math.abs(one.metrics[metric]?.[0] ?? 0));
  const most = Math.max(...numbers, 0);
  const signed = SIGNED.test(metric);
  const top = signed || most > 1 ? most : most > 0.5 ? 1 : most; // shares keep their whole range
  return { signed, most: top || 1, ramp: signed ? divergingRamp(frame.palette) : frame.palette.ramp };
}

/** The colour of a number. */
function scaleColour({ signed, most, ramp }, value) {
  const share = Math.max(-1, Math.min(1, value / most));
  return ramp[Math.round((signed ? (share + 1) / 2 : Math.max(share, 0)) * (LEVELS - 1))];
}

/** One site: a table with layers down and heads across. */
function siteTable(frame, site, metric, scale) {
  const heads = frame.parcel.heads[site];
  const across = Math.max(...heads.map((one) => one.head)) + 1;
  const layers = Math.max(...heads.map((one) => one.layer)) + 1;
  const name = fill(frame.parcel.player, `site_${site}`);
  const first = element("tr", {}, element("td", { class: "corner" }, frame.say("matrix_axes")));
  for (let head = 0; head < across; head += 1) first.append(element("th", { scope: "col" }, `H${head}`));
  const rows = Array.from({ length: layers }, (_, layer) => {
    const row = element("tr", {}, element("th", { scope: "row" }, `L${layer}`));
    for (const one of heads.filter((head) => head.layer === layer)) row.append(metricCell(frame, one, metric, scale));
    return row;
  });
  return element("table", { testid: `matrix-${site}` }, element("caption", {}, name), first, ...rows);
}

/** A head's number; its title says how sure it is and what the head is for. */
function metricCell(frame, one, metric, scale) {
  const [mean, low, high] = one.metrics[metric] ?? [null, null, null];
  const number = scale.signed ? signedNumber : shortNumber;
  const cell = element("td", { class: "number" }, number(mean));
  const facts = { metric: frame.say(`metric_${metric}`), value: number(mean), low: number(low), high: number(high) };
  const lines = [headName(one.layer, one.head), rolesInWords(frame, one)];
  if (mean !== null) {
    const colour = scaleColour(scale, mean);
    cell.style.background = css(colour);
    cell.style.color = inkOn(colour);
    lines.push(frame.say("metric_interval", facts));
  } else lines.push(frame.say("metric_absent"));
  assign(cell, "title", lines.join("\n"));
  return cell;
}
