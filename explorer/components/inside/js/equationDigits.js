import { printed, printedPower, printedWeight } from "./numbers.js";

/** @import { Printed } from "./numbers.js" */

/**
 * @typedef {object} CellNumbers of one cell
 * @property {number} product q·k
 * @property {number} scale by which the product is multiplied
 * @property {number | null} width where that is ÷ √width
 * @property {number | null} cap the largest score, where there is one
 * @property {number} bias 0 without one
 * @property {number} score the product, scaled, capped and moved by the bias
 * @property {number} largest score of the unmasked keys of the row
 * @property {number} sum of their powers of e, each less the largest
 *
 * @typedef {object} PrintedScaling product × scale (÷ √width), capped, + bias = score
 * @property {Printed} product
 * @property {number} scale
 * @property {number | null} cap
 * @property {Printed} bias
 * @property {boolean} scoreFollows
 *
 * @typedef {object} PrintedSoftmax e^(score − largest) ÷ Σ = power ÷ sum = weight
 * @property {Printed} largest
 * @property {Printed} power
 * @property {Printed} sum
 * @property {Printed} weight
 * @property {boolean} powerFollows
 * @property {boolean} weightFollows
 */

const MORE = [0, 1, 2, 3, 4]; // digits, until a number has six
const PAIRS = MORE.flatMap((scores) => MORE.map((powers) => [scores, powers])).sort(
  (one, other) => one[0] + one[1] - other[0] - other[1],
);
const HALF = 0.49999; // of a unit, and no tie, which some round up and others down
const MOST = 6; // digits of a scale or a cap
const FEWEST = 3; // digits of a scale

/**
 * The calculation of a masked cell, which ends with its score.
 * @param {CellNumbers} cell
 */
export function printMasked(cell) {
  return fewestDigits(MORE, (more) => {
    const score = printed(cell.score, more);
    const scaling = printScaling(cell, score);
    return { numbers: { score, ...scaling }, holds: scaling.scoreFollows };
  });
}

/**
 * The calculation of a cell from its product to its weight: by the rules of `printed_numbers.py`.
 * @param {CellNumbers} cell
 */
export function printCell(cell) {
  return fewestDigits(PAIRS, ([scores, powers]) => {
    const score = printed(cell.score, scores);
    const scaling = printScaling(cell, score);
    const softmax = printSoftmax(cell, score, scores, powers);
    const { powerFollows, weightFollows } = softmax;
    const holds = scaling.scoreFollows && powerFollows && weightFollows;
    return { numbers: { score, ...scaling, ...softmax }, holds };
  });
}

/**
 * @param {CellNumbers} cell
 * @param {Printed} score
 */
function printScaling({ product, scale, width, cap, bias }, score) {
  const limit = cap === null ? null : Number(cap.toPrecision(MOST));
  return fewestDigits(MORE, (more) => {
    const [own, moved] = [printed(product, more), printed(bias, more)];
    const factor = Number(scale.toPrecision(Math.min(FEWEST + more, MOST)));
    const scaled = width === null ? own.value * factor : own.value / Math.sqrt(width);
    const capped = limit === null ? scaled : limit * Math.tanh(scaled / limit);
    const scoreFollows = follows(capped + moved.value, score);
    /** @type {PrintedScaling} */
    const numbers = { product: own, scale: factor, cap: limit, bias: moved, scoreFollows };
    return { numbers, holds: scoreFollows };
  });
}

/**
 * @param {CellNumbers} cell
 * @param {Printed} score
 * @param {number} scores more digits of scores
 * @param {number} powers more digits of powers
 * @returns {PrintedSoftmax}
 */
function printSoftmax(cell, score, scores, powers) {
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
 * @template W, N
 * @param {W[]} ways to write them, with more and more digits
 * @param {(way: W) => {numbers: N, holds: boolean}} write
 * @returns {N}
 */
function fewestDigits(ways, write) {
  for (const way of ways) {
    const { numbers, holds } = write(way);
    if (holds) return numbers;
  }
  return write(ways[0]).numbers;
}

/**
 * Whether the right side of an equation is what its left side gives, within half a unit of its last
 * digit.
 * @param {number} result of the left side as it is printed
 * @param {Printed} right
 */
function follows(result, right) {
  return Math.abs(result - right.value) <= HALF * right.unit;
}
