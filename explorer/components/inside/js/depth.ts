import { assign, element, populate, write } from "../../dom/js/element.ts";
import { percent, shortWeight } from "../../dom/js/numbers.ts";
import { isolated } from "../../dom/js/sentences.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import { labelOf } from "../../trace/js/label.ts";
import { currentRow, layerNumber, siteOf, stepOfRow } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading, offers } from "../../trace/js/traceQuestions.ts";
import { type EarlyLayer, type EarlyLayers, readEarlyLayers } from "./earlyLayers.ts";
import { scrollToCurrent } from "./scroll.ts";
import { findPath } from "./tokenPath.ts";

/**
 * Tokens over layers: the most probable next token after each layer, if it were the last, at each
 * step that is shown.
 */
export function createDepth(context: TraceContext) {
  const { say } = context;
  const head = element("tr", {});
  const body = element("tbody", {});
  const table = element("table", { testid: "depth-table" }, element("thead", {}, head), body);
  const frame = element("div", { class: "depth-frame" }, table);
  const node = element(
    "div",
    { class: "depth", testid: "depth" },
    frame,
    element("p", { class: "note" }, say("depth_note")),
  );
  const findEarly = createLoading(context, "early", readEarlyLayers);
  /** What the layers are drawn from: one answer for all, or the path through each. */
  const find = () =>
    offers(context, "early")
      ? [findEarly("")]
      : siteOf(context).numbers.map((_, layer) => findPath(context, layer));
  const draw = (found: (EarlyLayer | EarlyLayers)[]) => {
    const all = found.flatMap((one) => ("layers" in one ? one.layers : one));
    const rows = Math.min(visibleRows(context), all[0].counts.queries);
    const current = currentRow(context);
    const headings = populate(head, rows + 1, () => element("th", { scope: "col" }));
    headings.forEach((heading, column) => {
      const row = column - 1;
      write(heading, column ? labelOf(context.trace.target[row]) : say("depth_after"));
      heading.classList.toggle("current", column > 0 && row === current);
    });
    const lines = populate(body, all.length, () => element("tr", {}));
    all.forEach(({ early }, layer) => {
      const line = lines[all.length - 1 - layer]; // the last layer on top, where the output leaves
      drawLayer(context, line, { early, layer, rows, current });
    });
    requestAnimationFrame(() => scrollToCurrent(frame, headings[current + 1]));
  };
  return { element: node, find, draw };
}

/** The predictions after one layer. */
interface LayerLine extends Pick<EarlyLayer, "early"> {
  layer: number;
  rows: number; // that are shown
  current: number; // row
}

function drawLayer(
  context: TraceContext,
  line: HTMLElement,
  { early, layer, rows, current }: LayerLine,
) {
  const cells = populate(line, rows + 1, (column) =>
    element(column ? "td" : "th", column ? {} : { scope: "row" }),
  );
  write(cells[0], `L${layerNumber(context, layer)}`);
  for (let row = 0; row < rows; row += 1) {
    const cell = cells[row + 1];
    const tokens = early(row);
    const [first] = tokens;
    write(cell, `${isolated(labelOf(first.label))} ${shortWeight(first.probability)}`);
    const lines = tokens.map(
      ({ label, probability }) => `${isolated(labelOf(label))} ${percent(probability)}`,
    );
    assign(cell, "title", lines.join("\n"));
    cell.style.setProperty("--share", String(first.probability));
    cell.classList.toggle("current", row === current);
    cell.onclick = () => context.set({ step: stepOfRow(context, row) });
  }
}
