import { context2d, element } from "../../dom/js/element.ts";
import { type Colour, mix, type Palette, rgb } from "../../page/js/palette.ts";
import { decimal } from "./printedNumbers.ts";

const FEW = 32; // columns of a vector of the model
const MANY = 64; // of the hidden layer of a feed-forward network
const WIDE = 512; // numbers from which a vector has many
const CELL = 4; // px of a number
const SMALL_CELL = 3;
const SIGNS: Record<"negative" | "positive", { light: Colour; dark: Colour }> = {
  negative: { light: [118, 42, 131], dark: [205, 146, 220] },
  positive: { light: [27, 120, 55], dark: [112, 200, 132] },
};

/** By kind, the variable of the style sheet with the colour of its letter in the equations. */
const COLOURS = {
  query: "--query",
  key: "--key-vector",
  value: "--value-vector",
  mixed: "--mixed-vector",
};
const GREY = 0.6; // from paper to ink

export type VectorKind = keyof typeof COLOURS; // a vector with a colour of its own

/**
 * The numbers of a vector as cells, row by row, each vector on a scale of its own: green above zero
 * and purple below or, of a vector with a colour of its own, that colour above and grey below.
 */
export function createVectorCells(testid: string, kind?: VectorKind) {
  // The numbers are in the large view.
  const canvas = element("canvas", { class: "vector-cells", testid, "aria-hidden": "true" });
  let shown: { vector: ArrayLike<number>; name: string } = { vector: [], name: "" };
  canvas.addEventListener("pointermove", (event) => {
    const columns = columnsOf(shown.vector.length);
    const column = Math.floor((event.offsetX / canvas.clientWidth) * columns);
    const row = Math.floor((event.offsetY / canvas.clientHeight) * canvas.height);
    const index = row * columns + column;
    const value = shown.vector[index];
    canvas.title = value === undefined ? "" : `${shown.name} [${index + 1}] = ${decimal(value)}`;
  });
  const draw = (vector: ArrayLike<number>, name: string, palette: Palette) => {
    shown = { vector, name };
    const columns = columnsOf(vector.length);
    const rows = Math.ceil(vector.length / columns);
    const cell = vector.length >= WIDE ? SMALL_CELL : CELL;
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.width = `${columns * cell}px`;
    const colours = kind ? ownColours(canvas, COLOURS[kind], palette) : signColours(palette);
    context2d(canvas).putImageData(signedImage(vector, columns, rows, palette, colours), 0, 0);
  };
  return { element: canvas, draw };
}

type SignColours = { negative: Colour; positive: Colour }; // of the largest numbers

function signColours({ dark }: Palette): SignColours {
  const theme = dark ? "dark" : "light";
  return { negative: SIGNS.negative[theme], positive: SIGNS.positive[theme] };
}

function ownColours(node: Element, variable: string, { paper, ink }: Palette): SignColours {
  const positive = rgb(getComputedStyle(node).getPropertyValue(variable).trim());
  return { negative: mix(paper, ink, GREY), positive };
}

/** Numbers as pixels, from the paper at 0 to a full colour at the largest size. */
export function signedImage(
  numbers: ArrayLike<number>,
  columns: number,
  rows: number,
  palette: Palette,
  colours: SignColours = signColours(palette),
) {
  const { paper } = palette;
  const image = new ImageData(columns, rows);
  const largest = Array.from(numbers).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  for (let index = 0; index < numbers.length; index += 1) {
    const full = colours[numbers[index] < 0 ? "negative" : "positive"];
    const colour = mix(paper, full, largest ? Math.abs(numbers[index]) / largest : 0);
    image.data.set([...colour, 255], 4 * index);
  }
  return image;
}

function columnsOf(count: number) {
  return Math.min(count, count >= WIDE ? MANY : FEW);
}
