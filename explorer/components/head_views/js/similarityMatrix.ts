import { element, type Part, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { computed, measured } from "../../dom/js/store.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { headAt, headName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { similarityTable } from "./comparisonTables.ts";
import type { HeadPairs, Place } from "./headPairs.ts";
import { createSelect } from "./select.ts";
import { createSimilarityCells } from "./similarityCells.ts";
import type { Table } from "./similarityChart.ts";
import { similarityFigure } from "./similarityFigure.ts";
import type { ViewFrame } from "./viewFrame.ts";

/** A head of each trace. */
export type HeadPair = { own: Place; other: Place };

const ROUNDING = 1e-4; // of float32 numbers, in tenths

/**
 * How alike all heads of two traces are. A click on a cell shows its two heads.
 * @param contexts of both traces
 */
export function createSimilarityMatrix(
  contexts: [TraceContext, TraceContext],
  frame: ViewFrame,
  pairs: HeadPairs,
  show: (pair: HeadPair) => void,
): Part {
  const [context] = contexts;
  const table = computed(() => readTable(context, frame));
  const title = element("h2", { testid: "similarity-title" });
  const cells = createSimilarityCells(context, frame, {
    table,
    width: measured(() => node.clientWidth),
    choose: (own, other) => show({ own, other }),
  });
  const aside = createAside(context, frame, pairs, show);
  const save = saveMenu(context.say, context.signal, saveButtons(contexts, frame, table));
  const node = element(
    "section",
    { class: "similarity", "aria-label": frame.say("similarity") },
    element("header", {}, title, explained(frame).element, save),
    element("div", { class: "similarity-body" }, cells.element, aside.element),
  );
  const read = () => {
    node.hidden = !table();
    const site = context.say(`site_${siteOf(context).name}`);
    write(title, frame.say("similarity_heading", { site }));
  };
  const showPair = () => {
    const shown = table();
    if (!shown) return;
    const row = indexIn(shown.rows, placeOf(context.state));
    const column = indexIn(shown.columns, pairs.other());
    const mean = row < 0 || column < 0;
    const text = mean ? frame.say("similarity_mean") : shown.texts[row][column];
    aside.describe(text, shown, row);
    cells.name(`${title.textContent}. ${text}`);
    cells.mark(mean ? null : { row, column });
  };
  return { element: node, views: [read, cells.draw, showPair] };
}

/** The similarity of the selected pair in words, and the choice of the other head. */
function createAside(
  context: TraceContext,
  frame: ViewFrame,
  pairs: HeadPairs,
  show: (pair: HeadPair) => void,
) {
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const pair = element("p", { class: "similarity-pair", testid: "similarity-pair" });
  const other = createSelect(
    (key) => frame.say(key, { a, b }),
    "other_head",
    (value) => {
      if (value === "matched" || value === "same") pairs.follow(value);
      else show({ own: placeOf(context.state), other: readPlace(value) });
    },
  );
  const node = element(
    "div",
    { class: "similarity-aside" },
    element("p", { class: "muted" }, frame.say("similarity_axes", { a, b })),
    pair,
    other.element,
    element("p", { class: "muted" }, frame.say("similarity_marks")),
  );
  const describe = (text: string, table: Table, row: number) => {
    write(pair, text);
    offer(frame, other, pairs, { table, row });
  };
  return { element: node, describe };
}

/** The buttons that save the matrix as a figure and as a table. */
function saveButtons(
  contexts: [TraceContext, TraceContext],
  frame: ViewFrame,
  table: () => Table | null,
) {
  const [{ say, state }] = contexts;
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const saved = { fileName: () => `similarity-${state.site}`, prefix: "similarity-" };
  const figures = figureButtons(say, {
    ...saved,
    figure: (width) => {
      const shown = table();
      return shown && similarityFigure(contexts, frame, shown, width);
    },
  });
  const csv = tableButton(say, {
    ...saved,
    table: () => {
      const shown = table();
      return shown && similarityTable([a, b], shown);
    },
    title: frame.say("similarity_csv_title"),
  });
  return [...figures, csv];
}

/** The button that explains the words of the matrix. */
function explained({ say, sayOfPlayer }: ViewFrame) {
  const labels = { label: say("similarity_words"), close: sayOfPlayer("words_close") };
  const words = ["similarity", "matched", "clustered"];
  return createExplanation("similarity-help", labels, () =>
    words.map((word) => wordEntry(word, say, sayOfPlayer)),
  );
}

/** The similarities of the attention on screen; null where only one of the traces has it. */
function readTable(context: TraceContext, frame: ViewFrame): Table | null {
  const { payload } = frame;
  const site = siteOf(context);
  const of = payload.header.similar?.[site.name];
  const second = payload.trace("changed").sites[site.name];
  const values = payload.similarity(site.name);
  if (!of || !second || !values) return null;
  const [rows, columns] = of.order;
  const across = columns.length;
  const matched = new Set(
    of.matched.map(([layer, head, other, number]) =>
      [layer * site.heads + head, other * second.heads + number].join(),
    ),
  );
  const table = {
    rows: rows.map((index) => headAt(index, site.heads)),
    columns: columns.map((index) => headAt(index, second.heads)),
    values: rows.map((row) => columns.map((column) => values[row * across + column])),
    matched: rows.map((row) => columns.map((column) => matched.has([row, column].join()))),
    texts: [],
    ...rangeOf(values),
  };
  const texts = rows.map((_, row) =>
    columns.map((__, column) => cellText(frame, table, row, column)),
  );
  return { ...table, texts };
}

/**
 * The tenths between which the similarities are: those of trained heads are far from 0, and their
 * differences would not be seen on a scale from there.
 */
export function rangeOf(values: Float32Array) {
  const known = values.filter(Number.isFinite);
  const least = Math.floor(Math.min(1, ...known) * 10 + ROUNDING) / 10;
  const most = Math.ceil(Math.max(0, ...known) * 10 - ROUNDING) / 10;
  return most > least ? { least, most } : { least: 0, most: 1 };
}

const placeOf = ({ layer, head }: Place) => ({ layer, head });

function readPlace(value: string): Place {
  const [layer, head] = value.split(".").map(Number);
  return { layer, head };
}

function indexIn(places: Place[], { layer, head }: Place): number {
  return places.findIndex((one) => one.layer === layer && one.head === head);
}

function cellText(frame: ViewFrame, table: Table, row: number, column: number) {
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const [own, other] = [table.rows[row], table.columns[column]];
  const key = table.matched[row][column] ? "similarity_cell_matched" : "similarity_cell";
  return frame.say(key, {
    a,
    b,
    head: headName(own.layer, own.head),
    other: headName(other.layer, other.head),
    value: table.values[row][column].toFixed(3),
  });
}

/**
 * The heads that can stand beside the selected one, in the order of layers and heads.
 * @param given.row of the selected head; −1 for a mean
 */
function offer(
  frame: ViewFrame,
  select: ReturnType<typeof createSelect>,
  pairs: HeadPairs,
  { table, row }: { table: Table; row: number },
) {
  const heads = table.columns
    .map((place, column) => ({ ...place, value: row < 0 ? Number.NaN : table.values[row][column] }))
    .sort((one, other) => one.layer - other.layer || one.head - other.head);
  const choices: [string, string][] = heads.map(({ layer, head, value }) => [
    `${layer}.${head}`,
    `${headName(layer, head)}${Number.isFinite(value) ? ` · ${value.toFixed(2)}` : ""}`,
  ]);
  const chosen = pairs.chosen();
  select.offer(
    [
      ["matched", frame.say("other_matched")],
      ["same", frame.say("other_same")],
      ...(row < 0 ? [] : choices),
    ],
    chosen ? `${chosen.layer}.${chosen.head}` : pairs.rule(),
  );
}
