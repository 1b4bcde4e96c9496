import { context2d, element } from "../../shared/js/element.js";
import { mix } from "../../shared/js/palette.js";
import { decimal } from "./numbers.js";

/** @import { Colour, Palette } from "../../shared/js/palette.js" */

/**
 * @typedef {object} VectorCells
 * @property {HTMLCanvasElement} element
 * @property {(vector: ArrayLike<number>, name: string, palette: Palette) => void} draw
 */

const FEW = 32; // columns of a vector of the model
const MANY = 64; // of the hidden layer of a feed-forward network
const WIDE = 512; // numbers from which a vector has many
const CELL = 4; // px of a number
const SMALL_CELL = 3;
/** @type {Record<"negative" | "positive", {light: Colour, dark: Colour}>} */
const SIGNS = {
  negative: { light: [118, 42, 131], dark: [205, 146, 220] },
  positive: { light: [27, 120, 55], dark: [112, 200, 132] },
};

/**
 * The numbers of a vector as cells, row by row: green above zero, purple below, each vector on a
 * scale of its own.
 * @param {string} testid
 * @returns {VectorCells}
 */
export function createVectorCells(testid) {
  // The numbers are in the large view.
  const canvas = element("canvas", { class: "vector-cells", testid, "aria-hidden": "true" });
  /** @type {{vector: ArrayLike<number>, name: string}} */
  let shown = { vector: [], name: "" };
  canvas.addEventListener("pointermove", (event) => {
    const columns = columnsOf(shown.vector.length);
    const column = Math.floor((event.offsetX / canvas.clientWidth) * columns);
    const row = Math.floor((event.offsetY / canvas.clientHeight) * canvas.height);
    const index = row * columns + column;
    const value = shown.vector[index];
    canvas.title = value === undefined ? "" : `${shown.name} [${index + 1}] = ${decimal(value)}`;
  });
  /** @type {VectorCells["draw"]} */
  const draw = (vector, name, palette) => {
    shown = { vector, name };
    const columns = columnsOf(vector.length);
    const rows = Math.ceil(vector.length / columns);
    const cell = vector.length >= WIDE ? SMALL_CELL : CELL;
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.width = `${columns * cell}px`;
    context2d(canvas).putImageData(signedImage(vector, columns, rows, palette), 0, 0);
  };
  return { element: canvas, draw };
}

/**
 * Numbers as pixels, from the paper at 0 to a full colour at the largest size.
 * @param {ArrayLike<number>} numbers
 * @param {number} columns
 * @param {number} rows
 * @param {Palette} palette
 */
export function signedImage(numbers, columns, rows, { paper, dark }) {
  const image = new ImageData(columns, rows);
  const theme = dark ? "dark" : "light";
  const largest = Array.from(numbers).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (let index = 0; index < numbers.length; index += 1) {
    const full = SIGNS[numbers[index] < 0 ? "negative" : "positive"][theme];
    const colour = mix(paper, full, largest ? Math.abs(numbers[index]) / largest : 0);
    image.data.set([...colour, 255], 4 * index);
  }
  return image;
}

/** @param {number} count */
function columnsOf(count) {
  return Math.min(count, count >= WIDE ? MANY : FEW);
}
