import { assign, element, populate, write } from "../../shared/js/element.js";
import { visibleRows } from "../../shared/js/guess.js";
import { labelOf } from "../../shared/js/label.js";
import { percent, shortWeight } from "../../shared/js/numbers.js";
import { isolated } from "../../shared/js/sentences.js";
import { currentRow, layerNumber, siteOf, stepOfRow } from "../../shared/js/stepState.js";
import { scrollToCurrent } from "./scroll.js";
import { findPath } from "./tokenPath.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { TokenPath } from "./tokenPath.js" */

/**
 * @typedef {object} Depth what would be predicted after each layer
 * @property {HTMLElement} element
 * @property {() => (TokenPath | "loading" | "failed")[]} paths of all layers
 * @property {(paths: TokenPath[]) => void} draw
 */

/**
 * Tokens over layers: the most probable next token after each layer, if it were the last, at each
 * step that is shown.
 * @param {TraceContext} context
 * @returns {Depth}
 */
export function createDepth(context) {
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
  const paths = () => siteOf(context).numbers.map((_, layer) => findPath(context, layer));
  /** @type {Depth["draw"]} */
  const draw = (all) => {
    const rows = Math.min(visibleRows(context), all[0].counts.queries);
    const current = currentRow(context);
    const headings = populate(head, rows + 1, () => element("th", { scope: "col" }));
    headings.forEach((heading, column) => {
      const row = column - 1;
      write(heading, column ? labelOf(context.trace.target[row]) : say("depth_after"));
      heading.classList.toggle("current", column > 0 && row === current);
    });
    const lines = populate(body, all.length, () => element("tr", {}));
    // The last layer stands on top, where the output leaves.
    [...all].reverse().forEach((path, index) => {
      drawLine(context, lines[index], path, all.length - 1 - index, rows, current);
    });
    requestAnimationFrame(() => scrollToCurrent(frame, headings[current + 1]));
  };
  return { element: node, paths, draw };
}

/**
 * The predictions after one layer.
 * @param {TraceContext} context
 * @param {HTMLElement} line
 * @param {TokenPath} path
 * @param {number} layer
 * @param {number} rows
 * @param {number} current
 */
function drawLine(context, line, path, layer, rows, current) {
  const cells = populate(line, rows + 1, (column) =>
    element(column ? "td" : "th", column ? {} : { scope: "row" }),
  );
  write(cells[0], `L${layerNumber(context, layer)}`);
  for (let row = 0; row < rows; row += 1) {
    const cell = cells[row + 1];
    const tokens = path.early(row);
    write(cell, `${isolated(labelOf(tokens[0].label))} ${shortWeight(tokens[0].probability)}`);
    const lines = tokens.map(
      ({ label, probability }) => `${isolated(labelOf(label))} ${percent(probability)}`,
    );
    assign(cell, "title", lines.join("\n"));
    cell.style.setProperty("--share", String(tokens[0].probability));
    cell.classList.toggle("current", row === current);
    cell.onclick = () => context.set({ step: stepOfRow(context, row) });
  }
}
