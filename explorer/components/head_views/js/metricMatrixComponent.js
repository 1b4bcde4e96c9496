import { assign, element, write } from "../../shared/js/element.js";
import { createExplanation, wordEntry } from "../../shared/js/explanation.js";
import { figureButtons } from "../../shared/js/figureButtons.js";
import { colourAt, css, inkOn } from "../../shared/js/palette.js";
import { projectorChosen, showProjector } from "../../shared/js/projector.js";
import { saveMenu } from "../../shared/js/saveMenu.js";
import { fillIn } from "../../shared/js/sentences.js";
import { headName } from "../../shared/js/stepState.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { createColourBar, rampOf } from "./colourBar.js";
import { meanOf, metricLine, roleText } from "./headRoles.js";
import { viewListeners } from "./listeners.js";
import { metricFigure } from "./metricFigure.js";
import { isDifference, shortNumber, signedNumber } from "./numbers.js";
import { createSelect } from "./select.js";
import { createViewFrame, watchFrame } from "./viewFrame.js";
import { readViewPayload } from "./viewPayload.js";

/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { SiteName } from "../../shared/js/trace.js" */
/** @import { ValueScale } from "./colourBar.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */
/** @import { MeasuredHead, ViewPayload } from "./viewPayload.js" */

/** The metric matrix as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => payload.header.language,
  listeners: viewListeners,
  open: openMetricMatrix,
});

/**
 * Every head by layer and head, one metric at a time, with its number in the cell.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @returns {View<ViewPayload, Listeners>}
 */
function openMetricMatrix(parent, payload) {
  const frame = createViewFrame(parent, payload);
  const select = createSelect(frame.say, "metric", (value) => draw(value));
  const about = element("p", { class: "about", testid: "metric-about" });
  const tables = element("div", { class: "matrices" });
  const bar = createColourBar();
  const legend = element("div", { class: "legend" }, bar.element);
  let shown = "";
  const papers = (/** @type {string} */ key) => fillIn(frame.payload.header.player_strings, key);
  const labels = { label: frame.say("metric_words"), close: papers("words_close") };
  const words = createExplanation("metric-words", labels, () => [
    wordEntry(`metric_${shown}`, frame.say, papers),
  ]);
  const draw = (metric = shown) => {
    const { metrics, heads } = frame.payload.header;
    const names = metrics.filter((name) =>
      allHeads(frame).some((one) => meanOf(one, name) !== null),
    );
    shown = names.includes(metric) ? metric : (names[0] ?? "");
    select.offer(
      names.map((name) => [name, frame.say(`metric_${name}`)]),
      shown,
    );
    write(about, frame.say(`metric_${shown}_title`));
    const scale = metricScale(frame, shown);
    const sites = /** @type {SiteName[]} */ (Object.keys(heads));
    tables.replaceChildren(
      ...sites.map((site) => siteTable(frame, site, heads[site] ?? [], shown, scale)),
    );
    bar.draw(scale);
  };
  /** @param {number} width px */
  const figure = (width) => {
    const { signed, most } = metricScale(frame, shown);
    return metricFigure(
      frame,
      shown,
      {
        colour: (palette, value) =>
          scaleColour({ signed, most, ramp: rampOf(palette, signed) }, value),
        numberOf: (measured) => meanOf(measured, shown),
        signed,
      },
      width,
    );
  };
  const saving = { figure, fileName: () => `heads-${shown}`, prefix: "metric-" };
  const save = saveMenu(papers, frame.signal, figureButtons(papers, saving));
  frame.root.append(
    element("div", { class: "tools" }, select.element, words.element, legend, save, about),
    tables,
  );
  frame.recolour.push(() => draw());
  watchFrame(frame, () => {}, 0);
  showProjector(frame.root, projectorChosen());
  draw();
  return {
    listen: () => {},
    update: (next) => {
      frame.payload = next;
      draw();
    },
    destroy: frame.destroy,
  };
}

/**
 * The heads of all sites.
 * @param {ViewFrame} frame
 */
function allHeads({ payload }) {
  return Object.values(payload.header.heads).flat();
}

/**
 * The colours of a metric: from 0 to its largest number, or around 0 for a difference.
 * @param {ViewFrame} frame
 * @param {string} metric
 * @returns {ValueScale}
 */
function metricScale(frame, metric) {
  const most = Math.max(...allHeads(frame).map((one) => Math.abs(meanOf(one, metric) ?? 0)), 0);
  const signed = isDifference(metric);
  const top = signed || most > 1 ? most : most > 0.5 ? 1 : most; // shares keep their whole range
  return { signed, most: top || 1, ramp: rampOf(frame.palette, signed) };
}

/**
 * The colour of a number.
 * @param {ValueScale} scale
 * @param {number} value
 */
function scaleColour({ signed, most, ramp }, value) {
  const share = Math.max(-1, Math.min(1, value / most));
  return colourAt(ramp, signed ? (share + 1) / 2 : Math.max(share, 0));
}

/**
 * One site: a table with layers down and heads across.
 * @param {ViewFrame} frame
 * @param {SiteName} site
 * @param {MeasuredHead[]} heads
 * @param {string} metric
 * @param {ValueScale} scale
 */
function siteTable(frame, site, heads, metric, scale) {
  const across = Math.max(...heads.map((one) => one.head)) + 1;
  const layers = Math.max(...heads.map((one) => one.layer)) + 1;
  const name = fillIn(frame.payload.header.player_strings, `site_${site}`);
  const first = element("tr", {}, element("td", { class: "corner" }, frame.say("matrix_axes")));
  for (let head = 0; head < across; head += 1)
    first.append(element("th", { scope: "col" }, `H${head}`));
  const rows = Array.from({ length: layers }, (_, layer) => {
    const cells = heads
      .filter((one) => one.layer === layer)
      .map((one) => metricCell(frame, one, metric, scale));
    return element("tr", {}, element("th", { scope: "row" }, `L${layer}`), ...cells);
  });
  return element(
    "table",
    { testid: `matrix-${site}` },
    element("caption", {}, name),
    first,
    ...rows,
  );
}

/**
 * The number of a head; its title has the confidence interval and the roles.
 * @param {ViewFrame} frame
 * @param {MeasuredHead} measured
 * @param {string} metric
 * @param {ValueScale} scale
 */
function metricCell(frame, measured, metric, scale) {
  const mean = meanOf(measured, metric);
  const number = scale.signed ? signedNumber : shortNumber;
  const cell = element("td", { class: "number" }, number(mean));
  if (mean !== null) {
    const colour = scaleColour(scale, mean);
    cell.style.background = css(colour);
    cell.style.color = inkOn(colour);
  }
  const lines = [
    headName(measured.layer, measured.head),
    roleText(measured),
    metricLine(frame, measured, metric, number) ?? frame.say("metric_absent"),
  ];
  assign(cell, "title", lines.join("\n"));
  return cell;
}
