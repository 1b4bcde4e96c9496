import type { Part } from "../../dom/js/element.ts";
import { assign, element, sharpCanvas, write } from "../../dom/js/element.ts";
import { createExplanation, wordEntry } from "../../dom/js/explanation.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { anyOf } from "../../dom/js/store.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { colourAt, css, inkOn } from "../../page/js/palette.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { headName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { ValueScale } from "./colourBar.ts";
import { createColourBar, rampOf } from "./colourBar.ts";
import { similarityTable } from "./comparisonTables.ts";
import type { HeadPairs, Place, Rule } from "./headPairs.ts";
import { createSelect } from "./select.ts";
import { similarityFigure } from "./similarityFigure.ts";
import type { ViewFrame } from "./viewFrame.ts";

/** The similarities of one attention, in clustered order. */
export interface Table {
  rows: Place[]; // heads of the first model
  columns: Place[]; // heads of the second
  value: (row: number, column: number) => number;
  matched: (row: number, column: number) => boolean;
  scale: ValueScale; // of its colours
}

export type Layout = { label: number; top: number; cell: number; font: number }; // px

export type Pair = { own: Place; other: Place };

const LARGEST_CELL = 40; // px
const SMALLEST_CELL = 6;
const TALLEST = 460; // px of all rows
const PRINTED_CELL = 30; // px that a number needs
const LABEL_SPACE = 4.2; // of a name such as "L1 H3", in heights of its type
const ROUNDING = 1e-4; // of float32 numbers, in tenths
const LARGER = 1.4; // type of a projector

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
  const title = element("h2", { testid: "similarity-title" });
  const canvas = element("canvas", { role: "img", testid: "similarity" });
  const box = element("div", { class: "similarity-cells" }, canvas);
  const pair = element("p", { class: "similarity-pair", testid: "similarity-pair" });
  const bar = createColourBar();
  const barName = element("span", { class: "bar-name" }, frame.say("similarity"));
  const select = createSelect(
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
    select.element,
    element("p", { class: "muted" }, frame.say("similarity_marks")),
    element("div", { class: "legend" }, barName, bar.element),
  );
  const figures = figureButtons(context.say, {
    figure: (width) => table && similarityFigure([context, second], frame, table, width),
    fileName: () => `similarity-${context.state.site}`,
    prefix: "similarity-",
  });
  const csv = tableButton(context.say, {
    table: () => table && similarityTable([names[0], names[1]], table),
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
  let table: Table | null = null;
  let layout: Layout = { label: 0, top: 0, cell: 1, font: 11 };
  const draw = () => {
    table = readTable(context, frame);
    node.hidden = !table;
    if (!table) return;
    write(
      title,
      frame.say("similarity_heading", { site: context.say(`site_${siteOf(context).name}`) }),
    );
    layout = fit(table, node.clientWidth, context.state.projector);
    const selected = { own: placeOf(context.state), other: pairs.other() };
    paint(canvas, frame, table, layout, selected);
    bar.draw(table.scale);
    const [row, column] = [
      indexIn(table.rows, selected.own),
      indexIn(table.columns, selected.other),
    ];
    const mean = row < 0 || column < 0;
    write(pair, mean ? frame.say("similarity_mean") : cellText(frame, table, row, column));
    assign(canvas, "aria-label", `${title.textContent}. ${pair.textContent}`);
    offer(frame, select, table, pairs, row);
  };
  const cellUnder = (event: PointerEvent | MouseEvent) => {
    const outer = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - outer.left - layout.label) / layout.cell);
    const row = Math.floor((event.clientY - outer.top - layout.top) / layout.cell);
    if (!table || row < 0 || column < 0) return null;
    const within = row < table.rows.length && column < table.columns.length;
    return within ? { table, row, column } : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellUnder(event);
    canvas.classList.toggle("pointed", Boolean(cell));
    assign(canvas, "title", cell && cellText(frame, cell.table, cell.row, cell.column));
  });
  canvas.addEventListener("click", (event) => {
    const cell = cellUnder(event);
    if (cell) show({ own: cell.table.rows[cell.row], other: cell.table.columns[cell.column] });
  });
  const update = (changed: Set<string>) => {
    if (anyOf(changed, "trace", "site", "layer", "head", "theme", "size", "projector")) draw();
  };
  return { element: node, update };
}

/** The button that explains the words of the matrix. */
function explained(frame: ViewFrame) {
  const papers = (key: string) => fillIn(frame.payload.header.player_strings, key);
  const labels = { label: frame.say("similarity_words"), close: papers("words_close") };
  const words = ["similarity", "matched", "clustered"];
  return createExplanation("similarity-help", labels, () =>
    words.map((word) => wordEntry(word, frame.say, papers)),
  );
}

/** The similarities of the attention on screen; null where only one of the traces has it. */
function readTable(context: TraceContext, { payload, palette }: ViewFrame): Table | null {
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
  return {
    rows: rows.map((index) => placeIn(index, site.heads)),
    columns: columns.map((index) => placeIn(index, second.heads)),
    value: (row, column) => values[rows[row] * across + columns[column]],
    matched: (row, column) => matched.has([rows[row], columns[column]].join()),
    scale: { signed: false, ...rangeOf(values), ramp: rampOf(palette, false) },
  };
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

const placeIn: (index: number, heads: number) => Place = (index, heads) => ({
  layer: Math.floor(index / heads),
  head: index % heads,
});

const placeOf: (place: Place) => Place = ({ layer, head }) => ({ layer, head });

function readPlace(value: string): Pick<TraceState, "layer" | "head"> {
  const [layer, head] = value.split(".").map(Number);
  return { layer, head };
}

function indexIn(
  places: Pick<TraceState, "layer" | "head">[],
  { layer, head }: Pick<TraceState, "layer" | "head">,
): number {
  return places.findIndex((one) => one.layer === layer && one.head === head);
}

/** The largest cells with which the matrix fits. */
function fit({ rows, columns }: Table, width: number, projector: boolean): Layout {
  const font = projector ? 11 * LARGER : 11;
  const label = Math.ceil(font * LABEL_SPACE);
  const across = Math.floor((width - label) / columns.length);
  const cell = Math.min(across, Math.floor(TALLEST / rows.length), LARGEST_CELL);
  return { label, top: label, cell: Math.max(cell, SMALLEST_CELL), font };
}

function paint(
  canvas: HTMLCanvasElement,
  { palette }: ViewFrame,
  table: Table,
  layout: Layout,
  selected: Pair,
) {
  const { rows, columns } = table;
  const { least = 0, most, ramp } = table.scale;
  const { label, top, cell, font } = layout;
  const [width, height] = [label + columns.length * cell + 1, top + rows.length * cell + 1];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = sharpCanvas(canvas, width, height);
  pen.font = `${font}px ${palette.font}`;
  pen.textBaseline = "middle";
  const gap = cell > 12 ? 1 : 0;
  rows.forEach((_, row) => {
    columns.forEach((_, column) => {
      const [x, y] = [label + column * cell, top + row * cell];
      const value = table.value(row, column);
      const share = Math.max(0, Math.min(1, (value - least) / (most - least)));
      const colour = colourAt(ramp, Number.isFinite(share) ? share : 0);
      pen.fillStyle = css(colour);
      pen.fillRect(x, y, cell - gap, cell - gap);
      pen.fillStyle = inkOn(colour);
      if (cell >= PRINTED_CELL) {
        pen.textAlign = "center";
        pen.fillText(value.toFixed(2).replace(/^0/, ""), x + cell / 2, y + cell / 2 + 1);
      }
      if (table.matched(row, column)) mark(pen, x, y, cell);
    });
  });
  nameHeads(pen, css(palette.ink), table, layout);
  const [row, column] = [indexIn(rows, selected.own), indexIn(columns, selected.other)];
  if (row < 0 || column < 0) return;
  const edges = [label + column * cell, top + row * cell, cell - gap, cell - gap] as const;
  for (const [colour, line] of [
    [palette.paper, 4],
    [palette.ink, 2],
  ] as const) {
    pen.strokeStyle = css(colour);
    pen.lineWidth = line;
    pen.strokeRect(...edges);
  }
}

/** The dot of matched heads: in the middle of a small cell, in the corner of one with a number. */
function mark(pen: CanvasRenderingContext2D, x: number, y: number, cell: number) {
  const radius = Math.max(1.5, Math.min(cell / 6, 3));
  const inset = cell >= PRINTED_CELL ? cell - radius * 2 - 1 : cell / 2;
  pen.beginPath();
  pen.arc(x + inset, y + (cell >= PRINTED_CELL ? radius * 2 : inset), radius, 0, 2 * Math.PI);
  pen.fill();
}

/** The names beside rows and above columns, as many as there is room for. */
function nameHeads(
  pen: CanvasRenderingContext2D,
  ink: string,
  { rows, columns }: Table,
  { label, top, cell, font }: Layout,
) {
  const every = Math.ceil((font + 1) / cell);
  pen.fillStyle = ink;
  pen.textAlign = "right";
  rows.forEach(({ layer, head }, row) => {
    if (row % every === 0) pen.fillText(headName(layer, head), label - 5, top + (row + 0.5) * cell);
  });
  pen.save();
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "left";
  columns.forEach(({ layer, head }, column) => {
    if (column % every === 0)
      pen.fillText(headName(layer, head), 5 - top, label + (column + 0.5) * cell);
  });
  pen.restore();
}

function cellText(frame: ViewFrame, table: Table, row: number, column: number) {
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const [own, other] = [table.rows[row], table.columns[column]];
  const key = table.matched(row, column) ? "similarity_cell_matched" : "similarity_cell";
  return frame.say(key, {
    a,
    b,
    head: headName(own.layer, own.head),
    other: headName(other.layer, other.head),
    value: table.value(row, column).toFixed(3),
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
    .map((place, column) => ({ ...place, value: row < 0 ? Number.NaN : table.value(row, column) }))
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
