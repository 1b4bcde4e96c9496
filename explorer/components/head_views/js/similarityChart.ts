import { type Chart, plain } from "../../dom/js/plotly.ts";
import { colourAt, css, inkOn, type Palette, rampStops } from "../../page/js/palette.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { Place } from "./headPairs.ts";

/** The similarities of one attention, in clustered order. */
export interface Table {
  rows: Place[]; // heads of the first model
  columns: Place[]; // heads of the second
  values: number[][]; // by row and column
  matched: boolean[][];
  texts: string[][]; // that are shown of a cell
  least: number; // of the scale of colours
  most: number;
}

/** Where the cells lie; px. */
export interface SimilarityLayout {
  margin: number; // of the names of the heads, on the left and above
  cell: number;
  bar: number; // length of the bar of the colours
  width: number;
  height: number;
}

const SMALLEST_CELL = 6; // px
const PRINTED_CELL = 30; // px that a number needs
const LABEL_SPACE = 4.2; // of a name such as "L1 H3", in heights of its type
const NAME_GAP = 4; // px from a name to the cells
const BAR = { length: 240, thickness: 12, gap: 8 }; // px
const BAR_ROOM = 6; // below the cells, in heights of the type
const STOPS = 32; // of the colour scale

/**
 * The largest cells with which the matrix fits.
 * @param most.cell px
 * @param most.rows px of all rows
 */
export function fit(
  { rows, columns }: Table,
  width: number,
  type: number,
  most: { cell: number; rows: number },
): SimilarityLayout {
  const margin = Math.ceil(type * LABEL_SPACE);
  const across = Math.floor((width - margin - 1) / columns.length);
  const least = Math.min(across, Math.floor(most.rows / rows.length), most.cell);
  const cell = Math.max(least, SMALLEST_CELL);
  const bar = Math.min(BAR.length, width - margin - type);
  return {
    margin,
    cell,
    bar,
    width: margin + Math.max(columns.length * cell, bar) + type,
    height: margin + rows.length * cell + BAR_ROOM * type,
  };
}

/**
 * How alike all heads of two traces are. The frame of the selected ones is no part of it, so that
 * choosing a head does not draw it again.
 * @param name of what the colours mean
 * @param type px
 */
export function similarityChart(
  table: Table,
  layout: SimilarityLayout,
  { palette, name, type }: { palette: Palette; name: string; type: number },
): Chart {
  const { rows, columns } = table;
  const { margin, cell, width, height } = layout;
  const ink = css(palette.ink);
  const [x, y] = [columns, rows].map((places) =>
    places.map(({ layer, head }) => headName(layer, head)),
  );
  const every = Math.ceil((type + 1) / cell);
  const axis = (names: string[]) => ({
    tickvals: names.flatMap((_, index) => (index % every === 0 ? [index] : [])),
    ticktext: names.filter((_, index) => index % every === 0),
    ticks: "outside",
    ticklen: NAME_GAP,
    tickcolor: "rgba(0,0,0,0)",
    showgrid: false,
    zeroline: false,
  });
  const whole = (names: string[]) => [-0.5, names.length - 0.5];
  return {
    data: [
      cells(table, layout, { palette, name, type }),
      numbers(table, layout, palette),
      dots(table, layout, palette),
    ],
    layout: {
      width,
      height,
      margin: {
        l: margin,
        t: margin,
        r: width - margin - columns.length * cell,
        b: height - margin - rows.length * cell,
        pad: 0,
        autoexpand: false,
      },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
      hovermode: "closest",
      hoverlabel: {
        bgcolor: css(palette.paper),
        bordercolor: ink,
        font: { family: palette.font, size: type, color: ink },
      },
      font: { family: palette.font, size: type, color: ink },
      xaxis: { ...axis(x), side: "top", tickangle: -90, range: whole(x) },
      yaxis: { ...axis(y), range: whole(y).reverse() },
    },
  };
}

/** The cells and the bar of their colours. */
function cells(
  { values, texts, least, most }: Table,
  { cell, bar }: SimilarityLayout,
  { palette, name, type }: { palette: Palette; name: string; type: number },
) {
  const gap = cell > 12 ? 1 : 0;
  return {
    type: "heatmap",
    z: values,
    zmin: least,
    zmax: most,
    colorscale: rampStops(palette.ramp, STOPS),
    xgap: gap,
    ygap: gap,
    hovertext: texts,
    hoverinfo: "text",
    colorbar: {
      orientation: "h",
      x: 0,
      xanchor: "left",
      xpad: 0,
      y: 0,
      yanchor: "top",
      ypad: BAR.gap,
      lenmode: "pixels",
      len: bar,
      thickness: BAR.thickness,
      outlinewidth: 0.5,
      outlinecolor: css(palette.ink),
      tickvals: [least, (least + most) / 2, most],
      tickformat: "~g",
      title: { text: plain(name), side: "top", font: { size: type } },
    },
  };
}

/** Black or white, by which a value can be read on its colour. */
function inkOf({ least, most }: Table, { ramp }: Palette, value: number) {
  const share = Math.max(0, Math.min(1, (value - least) / (most - least)));
  return inkOn(colourAt(ramp, Number.isFinite(share) ? share : 0));
}

/** The numbers of the cells, where there is room for them. */
function numbers(table: Table, { cell }: SimilarityLayout, palette: Palette) {
  const printed = cell >= PRINTED_CELL ? table.values : [];
  const found = printed.flatMap((row, y) => row.map((value, x) => ({ x, y, value })));
  return {
    type: "scatter",
    mode: "text",
    x: found.map(({ x }) => x),
    y: found.map(({ y }) => y),
    text: found.map(({ value }) => value.toFixed(2).replace(/^0/, "")),
    textfont: { color: found.map(({ value }) => inkOf(table, palette, value)) },
    hoverinfo: "skip",
  };
}

/** The dots of matched heads: in the middle of small cells, in the corner of those with a number. */
function dots(table: Table, { cell }: SimilarityLayout, palette: Palette) {
  const shift = cell >= PRINTED_CELL ? 0.5 - 5 / cell : 0;
  const found = table.matched.flatMap((row, y) =>
    row.flatMap((is, x) => (is ? [{ x, y, value: table.values[y][x] }] : [])),
  );
  return {
    type: "scatter",
    mode: "markers",
    x: found.map(({ x }) => x + shift),
    y: found.map(({ y }) => y - shift),
    marker: {
      size: 2 * Math.max(1.5, Math.min(cell / 6, 2.5)),
      color: found.map(({ value }) => inkOf(table, palette, value)),
    },
    hoverinfo: "skip",
  };
}
