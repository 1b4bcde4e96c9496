import { csvTable } from "../../dom/js/csv.ts";
import { drawn } from "../../dom/js/drawing.ts";
import { element, type Part } from "../../dom/js/element.ts";
import { shortValue } from "../../dom/js/numbers.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { runColour, runDashes } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";
import type { ComparisonRow, LearntKind } from "./runData.ts";

const SWATCH = { width: 30, height: 4 }; // px

/** The compared runs as a table, which is also the key to the curves above. */
export function createComparisonTable(context: ReplayContext): Part {
  const { say } = context;
  const { translates, continues } = context.run;
  const reached = translates ? "best_bleu" : continues ? "best_perplexity" : "mastered";
  const titles = ["compared_run", "compared_settings", reached, "best_loss"];
  const body = element("tbody", {});
  const save = tableButton(context.sayOfPlayer, {
    table: () => comparisonCsv(context.run.rows),
    fileName: () => `compared-${context.run.name}`,
    prefix: "compared-",
    title: say("csv_title"),
  });
  const head = element(
    "tr",
    {},
    ...titles.map((key) => element("th", { scope: "col", title: say(`${key}_title`) }, say(key))),
    element("td", {}, save),
  );
  const node = element(
    "div",
    { class: "comparison-table", testid: "compared" },
    element("table", {}, element("thead", {}, head), body),
  );
  const draw = () => {
    node.hidden = context.run.rows.length === 0;
    body.replaceChildren(...context.run.rows.map((row, index) => tableRow(context, row, index)));
  };
  return { element: node, views: [draw] };
}

function tableRow({ palette, run, say }: ReplayContext, row: ComparisonRow, index: number) {
  const stroke = { stroke: runColour(palette, index), "stroke-dasharray": runDashes(index) };
  const line = drawn("line", { x2: SWATCH.width, y1: 2, y2: 2, "stroke-width": 2, ...stroke });
  const swatch = drawn("svg", { class: "swatch", ...SWATCH }, line);
  const name = element("th", { scope: "row", title: row.name }, swatch, row.name);
  const cells = [row.settings || say("same_settings"), reachedText(run, row), lossText(row)].map(
    (text) => element("td", { title: text }, text),
  );
  return element("tr", {}, name, ...cells, element("td", {}));
}

/** When a run of a toy task was right, or how far a training on sentences came. */
function reachedText(
  { translates, continues }: LearntKind,
  { bleu, perplexity, mastered }: ComparisonRow,
) {
  if (translates) return bleu === null ? "–" : bleu.toFixed(1);
  if (continues) return shortValue(perplexity);
  return mastered === null ? "–" : String(mastered);
}

function lossText({ best_loss: loss, best_step: step }: ComparisonRow) {
  return loss === null ? "–" : `${shortValue(loss)} ★ ${step}`;
}

/** The rows as the lines of a CSV file, the numbers in full. */
export function comparisonCsv(rows: ComparisonRow[]) {
  const names = ["name", "settings", "mastered", "best_loss", "best_step", "bleu"] as const;
  const heading = ["run", "settings", "steps_to_99_percent", "best_held_out_loss", "best_step"];
  const lines = rows.map((row) => names.map((name) => row[name] ?? ""));
  return csvTable([[...heading, "best_bleu"], ...lines]);
}
