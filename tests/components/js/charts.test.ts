import assert from "node:assert/strict";
import { test } from "node:test";
import { inColours } from "../../../explorer/components/chart/js/chartContent.ts";
import { plain } from "../../../explorer/components/dom/js/plotly.ts";
import {
  fit,
  similarityChart,
} from "../../../explorer/components/head_views/js/similarityChart.ts";
import type { Palette } from "../../../explorer/components/page/js/palette.ts";

const PALETTE: Palette = {
  dark: false,
  paper: [255, 255, 255],
  ink: [0, 0, 0],
  ramp: Array.from({ length: 256 }, (_, level) => [255 - level, 255 - level, 255 - level]),
  query: [0, 0, 0],
  masked: [],
  stroke: [],
  font: "Arial",
  key: "",
};

test("a text that Plotly would read as markup or as a formula is shown letter by letter", () => {
  assert.equal(plain("<b>a & b</b> $x$"), "&lt;b&gt;a &amp; b&lt;/b&gt; &#36;x&#36;");
});

test("in a narrow chart every n-th number of the axis stays, the last one among them", () => {
  const tickvals = Array.from({ length: 13 }, (_, index) => 24 - 2 * index);
  const layout = {
    height: 300,
    margin: { l: 64, r: 112, t: 12, b: 48 },
    xaxis: { tickvals, gridcolor: "red" },
    yaxis2: { title: { text: "BLEU" } },
  };
  const shown = (width: number) => {
    const chart = inColours({ data: [], layout }, PALETTE, { room: width, type: 13 });
    return chart.layout as unknown as { width: number; xaxis: typeof layout.xaxis; yaxis2: object };
  };
  assert.deepEqual(shown(600).xaxis.tickvals, tickvals);
  assert.deepEqual(shown(288).xaxis.tickvals, [24, 20, 16, 12, 8, 4, 0]);
  assert.equal(shown(288).xaxis.gridcolor, "red"); // what a chart says itself stays
  assert.equal(shown(288).width, 288);
  assert.match(JSON.stringify(shown(288).yaxis2), /"text":"BLEU".*"size":13/);
});

test("in a narrow chart a legend below has the names of the lines, and the plot their room", () => {
  const data = ["a first name", "another", "one"].flatMap((name) => [
    { showlegend: false },
    { name },
  ]);
  const margin = { l: 64, r: 112, t: 12, b: 48 };
  const layout = { height: 300, margin, annotations: [{ text: "one" }], showlegend: false };
  const shown = (width: number) =>
    inColours({ data, layout }, PALETTE, { room: width, type: 13 }).layout as any;
  const { height, annotations } = shown(608);
  assert.deepEqual({ height, annotations }, { height: 300, annotations: layout.annotations });
  const narrow = shown(288);
  assert.ok(narrow.showlegend);
  assert.deepEqual(narrow.annotations, []);
  assert.ok(288 - narrow.margin.l - narrow.margin.r > 0.7 * 288);
  assert.equal(narrow.margin.b - margin.b, Math.ceil(2 * 1.6 * 13) + 10); // two lines of two names
  assert.equal(narrow.height - narrow.margin.b, 300 - margin.b); // the plot is as high
});

test("a legend that a chart has in any case has its room at each width", () => {
  const names = [
    "reverse (1)",
    "copy (2)",
    "sort · no causal mask (3)",
    "归纳（induction，只有解码器）（1）",
  ];
  const data = names.flatMap((name) => [{ name }, { name, showlegend: false }]);
  const layout = { height: 300, margin: { l: 64, r: 20, t: 12, b: 48 }, showlegend: true };
  for (const [width, lines] of [
    [288, 4],
    [700, 2],
    [1440, 1],
  ]) {
    const shown = inColours({ data, layout }, PALETTE, { room: width, type: 12 }).layout as any;
    assert.equal(shown.margin.b - 48, Math.ceil(lines * 1.6 * 12) + 10);
    assert.equal(shown.height - shown.margin.b, 300 - 48);
    assert.equal(shown.margin.r, 20);
  }
});

test("a legend has a line for each that Plotly breaks its names into", () => {
  const names = ["greedy decoding", "most probable output", "kept", "ended", "dropped"];
  const layout = { height: 300, margin: { l: 24, r: 16, t: 24, b: 48 }, showlegend: true };
  const entry = Math.ceil(13 * 0.6 * names[1].length) + 40; // px of a name and the line before it
  const linesIn = (room: number) => {
    const chart = { data: names.map((name) => ({ name })), layout };
    const shown = inColours(chart, PALETTE, { room, type: 13 }).layout as any;
    return Math.floor((shown.margin.b - 48 - 10) / (1.6 * 13));
  };
  const three = 3 * entry + 2 * 5 + 16; // and 5 px between two, as far as the right margin
  assert.equal(linesIn(three + 1), 2);
  assert.equal(linesIn(three), 3);
});

test("of a chart that scrolls the names are one below the other; one that is saved is whole", () => {
  const data = ["kept", "ended", "dropped"].map((name) => ({ name }));
  const margin = { l: 24, r: 16, t: 24, b: 48 };
  const layout = { height: 300, least_width: 900, margin, showlegend: true };
  const belowIn = (room: number, scrolls: boolean) => {
    const shown = inColours({ data, layout }, PALETTE, { room, type: 12, scrolls }).layout as any;
    return shown.margin.b - 48 - 10;
  };
  assert.equal(belowIn(400, true), Math.ceil(3 * 1.6 * 12));
  assert.equal(belowIn(400, false), Math.ceil(1.6 * 12));
  assert.equal(belowIn(1000, true), Math.ceil(1.6 * 12));
});

test("a chart that needs more than its room is wider, and more so with larger labels", () => {
  const layout = { height: 300, least_width: 900, xaxis: {} };
  const widthIn = (room: number, type = 12) =>
    inColours({ data: [], layout }, PALETTE, { room, type }).layout;
  assert.equal(widthIn(400).width, 900);
  assert.equal(widthIn(1200).width, 1200);
  assert.equal(widthIn(1200, 18).width, 1350);
  assert.ok(!("least_width" in widthIn(400))); // Plotly knows no such setting
});

/** Of `count` heads of each model. */
function tableOf(count: number) {
  const places = Array.from({ length: count }, (_, head) => ({ layer: 0, head }));
  const square = <Value>(value: (row: number, column: number) => Value) =>
    places.map((_, row) => places.map((__, column) => value(row, column)));
  return {
    rows: places,
    columns: places,
    values: square((row, column) => (row === column ? 1 : 0)),
    matched: square((row, column) => row === column),
    texts: square((row, column) => `${row} ${column}`),
    least: 0,
    most: 1,
  };
}

const MOST = { cell: 40, rows: 460 };

test("the cells of a matrix fit beside the names and are never too small to be pressed", () => {
  for (const [count, width] of [
    [2, 300],
    [8, 300],
    [48, 900],
  ]) {
    const { margin, cell } = fit(tableOf(count), width, 11, MOST);
    assert.ok(cell <= 40 && cell >= 6);
    assert.ok(cell === 6 || margin + count * cell <= width);
    assert.ok(cell === 6 || count * cell <= 460);
  }
});

test("numbers stand in large cells alone, and each in ink that can be read on its cell", () => {
  const looks = { palette: PALETTE, name: "Similarity", type: 11 };
  const drawn = (count: number) => {
    const table = tableOf(count);
    return similarityChart(table, fit(table, 900, 11, MOST), looks).data as {
      x: number[];
      y: number[];
      text: string[];
      textfont: { color: string[] };
    }[];
  };
  const [, numbers, dots] = drawn(2);
  assert.deepEqual(numbers.text, ["1.00", ".00", ".00", "1.00"]);
  assert.deepEqual(numbers.textfont.color, ["#fff", "#000", "#000", "#fff"]);
  assert.ok(dots.x.every((x, index) => x > index && x < index + 0.5)); // in the corner
  const [, none, middle] = drawn(40);
  assert.deepEqual(none.text, []);
  assert.deepEqual(middle.x, middle.y);
  assert.equal(middle.x.length, 40);
});
