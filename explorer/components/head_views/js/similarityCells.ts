import { assign, element, positionRectangle } from "../../dom/js/element.ts";
import { createPlot, type PlotlyElement, type PlotlyEvent } from "../../dom/js/plotly.ts";
import { computed, createStore } from "../../dom/js/store.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Place } from "./headPairs.ts";
import { fit, type SimilarityLayout, similarityChart, type Table } from "./similarityChart.ts";
import type { ViewFrame } from "./viewFrame.ts";

const MOST = { cell: 40, rows: 460 }; // px
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
 * The cells of the matrix, with an outline around that of the selected pair.
 * @param context of the first trace
 * @param given.table tracked; null where there is nothing to draw
 * @param given.width px of the matrix and what is beside it; measured
 * @param given.choose called with the two heads of a cell that is clicked
 */
export function createSimilarityCells(
  context: TraceContext,
  frame: ViewFrame,
  {
    table,
    width,
    choose,
  }: {
    table: () => Table | null;
    width: () => number;
    choose: (own: Place, other: Place) => void;
  },
) {
  const zoom = createStore<{ zoomed: Zoomed | null }>({ zoomed: null });
  const plot = element("div", { role: "img", testid: "similarity" });
  const outline = element("i", { class: "similarity-selected" });
  const type = () => TYPE[context.state.projector ? "projector" : "desk"];
  const layout = computed(() => {
    const shown = table();
    return shown && fit(shown, width(), type(), MOST);
  });
  const seen = (): MatrixView => {
    const { zoomed } = zoom.values;
    const ranges = zoomed && zoomed.of === layout() ? zoomed : null;
    return { table: table(), layout: layout(), ranges };
  };
  const followZoom = () => {
    const { xaxis, yaxis } = (plot as unknown as PlotlyElement).layout;
    zoom.set({ zoomed: { of: layout(), x: xaxis.range, y: yaxis.range } });
  };
  const drawPlot = createPlot(plot, context.signal, {
    plotly_click: (event) => chooseCell(event, table(), choose),
    plotly_relayout: followZoom,
  });
  const draw = () => {
    const [shown, places] = [table(), layout()];
    if (!shown || !places) return;
    plot.style.width = `${places.width}px`;
    plot.style.height = `${places.height}px`;
    const looks = { palette: frame.palette, name: frame.say("similarity"), type: type() };
    const chart = similarityChart(shown, places, looks);
    const coarse = window.matchMedia("(pointer: coarse)").matches;
    chart.layout.dragmode = coarse ? false : "zoom";
    if (context.plotly) drawPlot(context.plotly, chart);
  };
  const mark = (cell: { row: number; column: number } | null) => {
    const place = cell && placeOfCell(seen(), cell.row, cell.column);
    outline.hidden = !place;
    if (place) positionRectangle(outline, place.left, place.top, place.across, place.down);
  };
  return {
    element: element("div", { class: "similarity-cells" }, plot, outline),
    draw,
    name: (text: string) => assign(plot, "aria-label", text),
    mark,
  };
}

/** Choose the two heads of the cell that was clicked. */
function chooseCell(
  { points }: PlotlyEvent,
  table: Table | null,
  choose: (own: Place, other: Place) => void,
) {
  const place = points?.[0]?.pointNumber;
  if (!table || !Array.isArray(place)) return;
  const [row, column] = place;
  choose(table.rows[row], table.columns[column]);
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
