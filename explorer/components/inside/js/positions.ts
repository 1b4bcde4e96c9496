import { element, write } from "../../dom/js/element.ts";
import { paint } from "../../map/js/bitmap.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createBars } from "./bars.ts";
import { decimal } from "./printedNumbers.ts";
import { signedImage } from "./vectorCells.ts";

const HEIGHT = 120; // px of the heatmap at most
const TALLEST = 10; // px of a row
const CHARTS = 230; // px of a bar chart
const MARGINS = 90;

/**
 * All positions as a heatmap, how similar each is to one of them, and the curve of one dimension.
 */
export function createPositions(context: TraceContext) {
  const { say } = context;
  const canvas = element("canvas", { class: "positions-map", testid: "positions-map" });
  const similar = createBars("positions-similar");
  const curve = createBars("positions-curve");
  const caption = element("p", { class: "number", testid: "positions-caption" });
  const curveCaption = element("p", { class: "number" });
  const hovered = element("p", { class: "number", testid: "positions-hovered" });
  const node = element(
    "div",
    { class: "detail positions", testid: "positions" },
    element("div", {}, element("p", { class: "number" }, say("path_positions_map")), canvas),
    element("div", {}, caption, similar.element),
    element("div", {}, curveCaption, curve.element, hovered),
  );
  let shown: { vectors: Float32Array[]; position: number } = { vectors: [], position: 0 };
  const drawCurve = (dimension: number) => {
    write(curveCaption, say("path_positions_curve", { dimension: dimension + 1 }));
    curve.draw(
      shown.vectors.map((vector, row) => ({
        value: vector[dimension],
        title: `${row + 1}: ${decimal(vector[dimension])}`,
        chosen: row === shown.position,
      })),
      CHARTS,
    );
  };
  canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const { vectors, position } = shown;
    const row = Math.floor((offsetY / canvas.clientHeight) * vectors.length);
    const dimension = Math.floor((offsetX / canvas.clientWidth) * canvas.width);
    if (!vectors[row] || vectors[row][dimension] === undefined) return;
    drawCurve(dimension);
    const facts = {
      one: row + 1,
      other: position + 1,
      similarity: decimal(cosine(vectors[row], vectors[position])),
    };
    write(hovered, say("path_positions_pair", facts));
  });
  /** @param position from 0 */
  const show = (vectors: Float32Array[], position: number) => {
    shown = { vectors, position };
    paintVectors(context, canvas, vectors);
    write(caption, say("path_positions_similar", { position: position + 1 }));
    similar.draw(
      vectors.map((vector, row) => ({
        value: cosine(vector, vectors[position]),
        title: `${row + 1}: ${decimal(cosine(vector, vectors[position]))}`,
        chosen: row === position,
      })),
      CHARTS,
    );
    write(hovered, say("path_positions_hint"));
    drawCurve(0);
  };
  return { element: node, show };
}

/** A row of cells for each vector. */
function paintVectors(context: TraceContext, canvas: HTMLCanvasElement, vectors: Float32Array[]) {
  const columns = vectors[0].length;
  const numbers = new Float32Array(columns * vectors.length);
  vectors.forEach((vector, row) => {
    numbers.set(vector, row * columns);
  });
  paint(canvas, signedImage(numbers, columns, vectors.length, context.palette));
  canvas.style.height = `${Math.min(HEIGHT, TALLEST * vectors.length)}px`;
  canvas.style.width = `${Math.min(2 * columns, context.width() - 2 * CHARTS - MARGINS)}px`;
}

/** The cosine of the angle between two vectors. */
export function cosine(one: Float32Array, other: Float32Array) {
  const product = one.reduce((sum, value, index) => sum + value * other[index], 0);
  return product / (Math.hypot(...one) * Math.hypot(...other));
}
