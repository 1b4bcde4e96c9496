import { element, write } from "../../shared/js/element.js";
import { signed, summands } from "../../shared/js/numbers.js";
import { createSignedBars } from "../../shared/js/signedBars.js";
import { headPlace } from "../../shared/js/stepState.js";
import { createLoading } from "../../shared/js/traceQuestions.js";
import { maskedKeys } from "./cellTexts.js";
import { decimal } from "./numbers.js";
import { largestParts, readScoreVectors, scorePartsOf } from "./scoreVectors.js";

/** @import { Cell } from "../../shared/js/map.js" */
/** @import { SignedBar } from "../../shared/js/signedBars.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { ScorePart, ScoreVectors } from "./scoreVectors.js" */

/**
 * @typedef {object} ScorePartsView why a head looks from the query at the key of a cell
 * @property {HTMLElement} element
 * @property {() => ScoreVectors | "loading" | "failed"} find
 * @property {(found: ScoreVectors, cell: Cell) => void} draw
 */

/**
 * @typedef {object} ScoreSum
 * @property {string} sentence
 * @property {(SignedBar & {mark: number})[]} bars
 * @property {number} largest distance from 0 of a bar or a mark
 */

const MOST = 11; // bars beside the sum: with it two columns of six

/**
 * The score of a cell as a sum: content against content, content against position and so on.
 * @param {TraceContext} context
 * @returns {ScorePartsView}
 */
export function createScoreParts(context) {
  const { say } = context;
  const sentence = element("p", { class: "inside-sentence", testid: "score-sentence" });
  const bars = createSignedBars("score-bars");
  const note = element("p", { class: "note" }, say("score_note"));
  const node = element(
    "div",
    { class: "score-parts", testid: "score-parts" },
    sentence,
    bars.element,
    note,
  );
  const load = createLoading(context, "score", readScoreVectors);
  const find = () => load(headPlace(context));
  /** @type {ScorePartsView["draw"]} */
  const draw = (found, cell) => {
    const shown = scoreSum(context, found, cell);
    bars.draw(context.palette, shown.bars, shown.largest);
    write(sentence, shown.sentence);
  };
  return { element: node, find, draw };
}

/**
 * The largest parts of the score of a cell and, last, their sum; in one sentence, too.
 * @param {TraceContext} context
 * @param {ScoreVectors} found
 * @param {Cell} cell
 * @returns {ScoreSum}
 */
export function scoreSum(context, found, cell) {
  const { say } = context;
  const parts = scorePartsOf(found, maskedKeys(context, cell.query), cell.query, cell.key);
  const score = sumOf(parts, "value");
  const rest = parts.length - MOST + 1;
  const largest = largestParts(parts, MOST);
  const values = largest.map(({ value }) => value);
  const numbers = summands(values, score);
  const named = largest.map((part, index) => ({
    ...barOf(context, part, rest),
    number: numbers[index],
  }));
  const names = { label: say("score_sum"), title: say("score_sum_title"), sum: true };
  const mark = sumOf(parts, "mean");
  const bars = [...named, { ...names, value: score, number: signed(score), mark }];
  const best = parts.reduce((one, part) =>
    Math.abs(part.value) > Math.abs(one.value) ? part : one,
  );
  const sentence = say("score_sentence", {
    score: decimal(score),
    count: parts.length,
    part: partsName(context, best),
    value: signed(best.value),
  });
  const sizes = bars.map(({ value, mark }) => Math.max(Math.abs(value), Math.abs(mark)));
  return { sentence, bars, largest: Math.max(...sizes) };
}

/**
 * @param {ScorePart[]} parts
 * @param {"value" | "mean"} name
 */
function sumOf(parts, name) {
  return parts.reduce((sum, part) => sum + part[name], 0);
}

/**
 * @param {TraceContext} context
 * @param {ScorePart} part
 * @param {number} rest how many summands stand together
 */
function barOf(context, part, rest) {
  const { say } = context;
  const label = part.query ? partsName(context, part) : say("score_others", { count: rest });
  const numbers = { value: signed(part.value, 3), mean: signed(part.mean, 3) };
  const title = say("score_part_title", { part: label, ...numbers });
  return { label, title, value: part.value, mark: part.mean };
}

/**
 * "content × position": of the query, of the key.
 * @param {TraceContext} context
 * @param {ScorePart} part
 */
function partsName({ say }, { query, key }) {
  const [one, other] = [query, key].map((name) => {
    const [kind, layer] = name.split(".");
    return say(`score_part_${kind}`, { layer });
  });
  return `${one} × ${other}`;
}
