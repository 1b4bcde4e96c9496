import { element, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { shortNumber, signedNumber } from "../../dom/js/numbers.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { projectorChosen, showProjector } from "../../page/js/projector.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { streamlitReports } from "../../trace/js/selectionReport.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import { createColourBar, rampOf, scaleColour, type ValueScale } from "./colourBar.ts";
import { headsOf, isDifference, meanOf, metricLine, metricsOf, roleCaption } from "./headRoles.ts";
import { metricFigure } from "./metricFigure.ts";
import { numberTable } from "./numberTable.ts";
import { createSelect } from "./select.ts";
import { createViewFrame, type Listeners, type ViewFrame, watchFrame } from "./viewFrame.ts";
import { type MeasuredHead, readViewPayload, type ViewPayload } from "./viewPayload.ts";

/** The metric matrix as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: (payload) => payload.header.language,
  listeners: streamlitReports,
  open: openMetricMatrix,
});

/** Every head by layer and head, one metric at a time, with its number in the cell. */
function openMetricMatrix(
  parent: HTMLElement | ShadowRoot,
  payload: ViewPayload,
): View<ViewPayload, Listeners> {
  const frame = createViewFrame(parent, payload);
  const { values: chosen, set } = createStore({ metric: "" });
  const shown = () => shownMetric(frame, chosen.metric);
  const select = createSelect(frame.say, "metric", (metric) => set({ metric }));
  const about = element("p", { class: "about", testid: "metric-about" });
  const tables = element("div", { class: "matrices" });
  const bar = createColourBar();
  const legend = element("div", { class: "legend" }, bar.element);
  const { say, sayOfPlayer } = frame;
  const labels = { label: say("metric_words"), close: sayOfPlayer("words_close") };
  const words = createExplanation("metric-words", labels, () => [
    wordEntry(`metric_${shown()}`, say, sayOfPlayer),
  ]);
  const draw = () => {
    const { heads } = frame.payload.header;
    const metric = shown();
    select.offer(
      metricsOf(frame).map((name) => [name, frame.say(`metric_${name}`)]),
      metric,
    );
    write(about, frame.say(`metric_${metric}_title`));
    const scale = metricScale(frame, metric);
    const sites = Object.keys(heads) as SiteName[];
    tables.replaceChildren(
      ...sites.map((site) => siteTable(frame, site, heads[site] ?? [], metric, scale)),
    );
    bar.draw(scale);
  };
  const figure = (width: number) => matrixFigure(frame, shown(), width);
  const saving = { figure, fileName: () => `heads-${shown()}`, prefix: "metric-" };
  const save = saveMenu(sayOfPlayer, frame.signal, figureButtons(sayOfPlayer, saving));
  frame.root.append(
    element("div", { class: "tools row wrap" }, select.element, words.element, legend, save, about),
    tables,
  );
  watchFrame(frame, () => {}, 0);
  showProjector(frame.root, projectorChosen());
  const screen = createScreen();
  screen.show({ views: [draw] });
  screen.flush();
  return {
    listen: () => {},
    update: (payload) => frame.give({ payload }),
    destroy: () => {
      screen.stop();
      frame.destroy();
    },
  };
}

/** The chosen metric or, where no head has it, the first that one has. */
function shownMetric(frame: ViewFrame, chosen: string) {
  const names = metricsOf(frame);
  return names.includes(chosen) ? chosen : (names[0] ?? "");
}

/** The colours of a metric: from 0 to its largest number, or around 0 for a difference. */
function metricScale(frame: ViewFrame, metric: string): ValueScale {
  const most = Math.max(...headsOf(frame).map((one) => Math.abs(meanOf(one, metric) ?? 0)), 0);
  const signed = isDifference(metric);
  const top = signed || most > 1 ? most : most > 0.5 ? 1 : most; // shares keep their whole range
  return { signed, most: top || 1, ramp: rampOf(frame.palette, signed) };
}

/** @param width px */
function matrixFigure(frame: ViewFrame, metric: string, width: number) {
  const scale = metricScale(frame, metric);
  const { signed } = scale;
  return metricFigure(
    frame,
    metric,
    {
      colour: (palette, value) => scaleColour({ ...scale, ramp: rampOf(palette, signed) }, value),
      numberOf: (measured) => meanOf(measured, metric),
      signed,
    },
    width,
  );
}

/** One site: a table with layers down and heads across. */
function siteTable(
  frame: ViewFrame,
  site: SiteName,
  heads: MeasuredHead[],
  metric: string,
  scale: ValueScale,
) {
  return numberTable(scale, {
    testid: `matrix-${site}`,
    caption: frame.sayOfPlayer(`site_${site}`),
    corner: frame.say("matrix_axes"),
    cells: heads.map((one) => metricCell(frame, one, metric, scale)),
  });
}

/** The number of a head; its title has the confidence interval and the roles. */
function metricCell(
  frame: ViewFrame,
  measured: MeasuredHead,
  metric: string,
  { signed }: ValueScale,
) {
  const value = meanOf(measured, metric);
  const number = signed ? signedNumber : shortNumber;
  const lines = [
    headName(measured.layer, measured.head),
    roleCaption(measured),
    metricLine(frame, measured, metric, number) ?? frame.say("metric_absent"),
  ];
  return { layer: measured.layer, value, written: number(value), title: lines.join("\n") };
}
