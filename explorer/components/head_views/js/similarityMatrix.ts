import { assign, element, type Part, positionRectangle, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { createPlot, type PlotlyElement, type PlotlyEvent } from "../../dom/js/plotly.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { computed, createStore, measured } from "../../dom/js/store.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { headAt, headName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { similarityTable } from "./comparisonTables.ts";
import type { HeadPairs, Place, Rule } from "./headPairs.ts";
import { createSelect } from "./select.ts";
import { fit, type SimilarityLayout, similarityChart, type Table } from "./similarityChart.ts";
import { similarityFigure } from "./similarityFigure.ts";
import type { ViewFrame } from "./viewFrame.ts";

type Pair = { own: Place; other: Place };

const MOST = { cell: 40, rows: 460 }; // px
const ROUNDING = 1e-4; // of float32 numbers, in tenths
const TYPE = { desk: 11, projector: 15 }; // px

/** The cells on screen, which a zoom changes, of a layout. */
interface Zoomed {
  of: SimilarityLayout | null;
  x: number[];
  y: number[];
}

/** What is seen of the matrix. */
interface MatrixView {
  table: Table | null;
  layout: SimilarityLayout | null;
  ranges: Zoomed | null;
}

/**
 * How alike all heads of two traces are. A click on a cell shows its two heads.
 * @param context of the first trace
 */
export function createSimilarityMatrix(
  context: TraceContext,
  second: TraceContext,
  frame: ViewFrame,
  pairs: HeadPairs,
  show: (pair: Pair) => void,
  follow: (rule: Rule) => void,
): Part {
  const names = frame.payload.header.names ?? ["", ""];
  const facts = { a: names[0], b: names[1] };
  const zoom = createStore<{ zoomed: Zoomed | null }>({ zoomed: null });
  const title = element("h2", { testid: "similarity-title" });
  const plot = element("div", { role: "img", testid: "similarity" });
  const outline = element("i", { class: "similarity-selected" });
  const box = element("div", { class: "similarity-cells" }, plot, outline);
  const pair = element("p", { class: "similarity-pair", testid: "similarity-pair" });
  const other = createSelect(
    (key) => frame.say(key, facts),
    "other_head",
    (value) => {
      if (value === "matched" || value === "same") follow(value);
      else show({ own: placeOf(context.state), other: readPlace(value) });
    },
  );
  const aside = element(
    "div",
    { class: "similarity-aside" },
    element("p", { class: "muted" }, frame.say("similarity_axes", facts)),
    pair,
    other.element,
    element("p", { class: "muted" }, frame.say("similarity_marks")),
  );
  const figures = figureButtons(context.say, {
    figure: (width) => {
      const shown = table();
      return shown && similarityFigure([context, second], frame, shown, width);
    },
    fileName: () => `similarity-${context.state.site}`,
    prefix: "similarity-",
  });
  const csv = tableButton(context.say, {
    table: () => {
      const shown = table();
      return shown && similarityTable([names[0], names[1]], shown);
    },
    fileName: () => `similarity-${context.state.site}`,
    prefix: "similarity-",
    title: frame.say("similarity_csv_title"),
  });
  const save = saveMenu(context.say, context.signal, [...figures, csv]);
  const heading = element("header", {}, title, explained(frame).element, save);
  const node = element(
    "section",
    { class: "similarity", "aria-label": frame.say("similarity") },
    heading,
    element("div", { class: "similarity-body" }, box, aside),
  );
  const width = measured(() => node.clientWidth);
  const type = () => TYPE[context.state.projector ? "projector" : "desk"];
  const table = computed(() => readTable(context, frame));
  const layout = computed(() => {
    const shown = table();
    return shown && fit(shown, width(), type(), MOST);
  });
  const seen = (): MatrixView => {
    const { zoomed } = zoom.values;
    const ranges = zoomed && zoomed.of === layout() ? zoomed : null;
    return { table: table(), layout: layout(), ranges };
  };
  const select = (event: PlotlyEvent) => {
    const [point] = event.points ?? [];
    const shown = table();
    if (!shown || !Array.isArray(point?.pointNumber)) return;
    const [row, column] = point.pointNumber;
    show({ own: shown.rows[row], other: shown.columns[column] });
  };
  const followZoom = () => {
    const { xaxis, yaxis } = (plot as unknown as PlotlyElement).layout;
    zoom.set({ zoomed: { of: layout(), x: xaxis.range, y: yaxis.range } });
  };
  const draw = createPlot(plot, context.signal, {
    plotly_click: select,
    plotly_relayout: followZoom,
  });
  const read = () => {
    node.hidden = !table();
    const site = context.say(`site_${siteOf(context).name}`);
    write(title, frame.say("similarity_heading", { site }));
  };
  const drawCells = () => {
    const [shown, places] = [table(), layout()];
    if (!shown || !places) return;
    plot.style.width = `${places.width}px`;
    plot.style.height = `${places.height}px`;
    const looks = { palette: frame.palette, name: frame.say("similarity"), type: type() };
    const chart = similarityChart(shown, places, looks);
    const coarse = window.matchMedia("(pointer: coarse)").matches;
    chart.layout.dragmode = coarse ? false : "zoom";
    if (context.plotly) draw(context.plotly, chart);
  };
  const showPair = () => {
    const shown = table();
    if (!shown) return;
    const row = indexIn(shown.rows, placeOf(context.state));
    const column = indexIn(shown.columns, pairs.other());
    const mean = row < 0 || column < 0;
    write(pair, mean ? frame.say("similarity_mean") : shown.texts[row][column]);
    assign(plot, "aria-label", `${title.textContent}. ${pair.textContent}`);
    offer(frame, other, shown, pairs, row);
    const place = mean ? null : placeOfCell(seen(), row, column);
    outline.hidden = !place;
    if (place) positionRectangle(outline, place.left, place.top, place.across, place.down);
  };
  return { element: node, views: [read, drawCells, showPair] };
}

/** Where a cell is, px; null where it is not on screen. */
function placeOfCell({ table, layout, ranges }: MatrixView, row: number, column: number) {
  if (!table || !layout) return null;
  const { margin, cell } = layout;
  const [left, right] = ranges?.x ?? [-0.5, table.columns.length - 0.5];
  const [bottom, top] = ranges?.y ?? [table.rows.length - 0.5, -0.5];
  if (column < left || column > right || row < top || row > bottom) return null;
  const across = (table.columns.length * cell) / (right - left);
  const down = (table.rows.length * cell) / (bottom - top);
  const place = {
    left: margin + (column - 0.5 - left) * across,
    top: margin + (row - 0.5 - top) * down,
  };
  return { ...place, across, down };
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
 * @param row of the selected head; −1 for a mean
 */
function offer(
  frame: ViewFrame,
  select: ReturnType<typeof createSelect>,
  table: Table,
  pairs: HeadPairs,
  row: number,
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
