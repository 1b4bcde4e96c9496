import { type Printed, printed, printedPower, printedWeight } from "./printedNumbers.ts";

/** The numbers of one cell, from the product to the weight. */
export interface CellNumbers {
  product: number; // q·k
  scale: number; // by which the product is multiplied
  width: number | null; // where that is ÷ √width
  cap: number | null; // the largest score, where there is one
  bias: number; // 0 without one
  score: number; // the product, scaled, capped and moved by the bias
  largest: number; // score of the unmasked keys of the row
  sum: number; // of their powers of e, each less the largest
}

/** Product × scale (÷ √width), capped, + bias = score. */
export interface PrintedScaling {
  product: Printed;
  scale: number;
  cap: number | null;
  bias: Printed;
  scoreFollows: boolean;
}

/** E^(score − largest) ÷ Σ = power ÷ sum = weight. */
interface PrintedSoftmax {
  largest: Printed;
  power: Printed;
  sum: Printed;
  weight: Printed;
  powerFollows: boolean;
  weightFollows: boolean;
}

const MORE = [0, 1, 2, 3, 4]; // digits, until a number has six
const PAIRS = MORE.flatMap((scores) => MORE.map((powers) => [scores, powers])).sort(
  (one, other) => one[0] + one[1] - other[0] - other[1],
);
const HALF = 0.49999; // of a unit, and no tie, which some round up and others down
const MOST = 6; // digits of a scale or a cap
const FEWEST = 3; // digits of a scale

/** The calculation of a masked cell, which ends with its score. */
export function printMasked(cell: CellNumbers) {
  return fewestDigits(MORE, (more) => {
    const score = printed(cell.score, more);
    const scaling = printScaling(cell, score);
    return { numbers: { score, ...scaling }, holds: scaling.scoreFollows };
  });
}

/**
 * The calculation of a cell from its product to its weight: by the rules of `printed_numbers.py`.
 */
export function printCell(cell: CellNumbers) {
  return fewestDigits(PAIRS, ([scores, powers]) => {
    const score = printed(cell.score, scores);
    const scaling = printScaling(cell, score);
    const softmax = printSoftmax(cell, score, scores, powers);
    const { powerFollows, weightFollows } = softmax;
    const holds = scaling.scoreFollows && powerFollows && weightFollows;
    return { numbers: { score, ...scaling, ...softmax }, holds };
  });
}

function printScaling({ product, scale, width, cap, bias }: CellNumbers, score: Printed) {
  const limit = cap === null ? null : Number(cap.toPrecision(MOST));
  return fewestDigits(MORE, (more) => {
    const [own, moved] = [printed(product, more), printed(bias, more)];
    const factor = Number(scale.toPrecision(Math.min(FEWEST + more, MOST)));
    const scaled = width === null ? own.value * factor : own.value / Math.sqrt(width);
    const capped = limit === null ? scaled : limit * Math.tanh(scaled / limit);
    const scoreFollows = follows(capped + moved.value, score);
    const numbers: PrintedScaling = {
      product: own,
      scale: factor,
      cap: limit,
      bias: moved,
      scoreFollows,
    };
    return { numbers, holds: scoreFollows };
  });
}

/**
 * @param scores more digits of scores
 * @param powers more digits of powers
 */
function printSoftmax(
  cell: CellNumbers,
  score: Printed,
  scores: number,
  powers: number,
): PrintedSoftmax {
  const exact = Math.exp(cell.score - cell.largest);
  const weight = printedWeight(exact / cell.sum);
  const largest = printed(cell.largest, scores);
  const [power, sum] = [printedPower(exact, powers), printedPower(cell.sum, powers)];
  const powerFollows = follows(Math.exp(score.value - largest.value), power);
  const weightFollows = follows(power.value / sum.value, weight);
  return { largest, power, sum, weight, powerFollows, weightFollows };
}

/**
 * The numbers of equations with the fewest digits with which they hold as they are printed; with
 * the fewest of all where six do not suffice.
 * @param ways to write them, with more and more digits
 */
function fewestDigits<W, N>(ways: W[], write: (way: W) => { numbers: N; holds: boolean }): N {
  for (const way of ways) {
    const { numbers, holds } = write(way);
    if (holds) return numbers;
  }
  return write(ways[0]).numbers;
}

/**
 * Whether the right side of an equation is what its left side gives, within half a unit of its last
 * digit.
 * @param result of the left side as it is printed
 */
function follows(result: number, right: Printed) {
  return Math.abs(result - right.value) <= HALF * right.unit;
}
