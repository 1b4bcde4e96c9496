import { element, write } from "../../dom/js/element.ts";
import { signed, summands } from "../../dom/js/numbers.ts";
import { createSignedBars, type SignedBar } from "../../figure/js/signedBars.ts";
import { headPlace } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading } from "../../trace/js/traceQuestions.ts";
import { maskedKeys } from "./cellTexts.ts";
import { decimal } from "./printedNumbers.ts";
import {
  DISTANCE,
  largestParts,
  readScoreVectors,
  type ScorePart,
  type ScoreVectors,
  scorePartsOf,
} from "./scoreVectors.ts";

interface ScoreSum {
  sentence: string;
  bars: (SignedBar & { mark: number })[];
  largest: number; // distance from 0 of a bar or a mark
}

const MOST = 11; // bars beside the sum: with it two columns of six

/** The score of a cell as a sum: content against content, content against position and so on. */
export function createScoreParts(context: TraceContext) {
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
  const draw = (found: ScoreVectors, cell: Cell) => {
    const shown = scoreSum(context, found, cell);
    bars.draw(context.palette, shown.bars, shown.largest);
    write(sentence, shown.sentence);
  };
  return { element: node, find, draw };
}

/** The largest parts of the score of a cell and, last, their sum; in one sentence, too. */
export function scoreSum(context: TraceContext, found: ScoreVectors, cell: Cell): ScoreSum {
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

function sumOf(parts: ScorePart[], name: "value" | "mean") {
  return parts.reduce((sum, part) => sum + part[name], 0);
}

/** @param rest how many summands stand together */
function barOf(context: TraceContext, part: ScorePart, rest: number) {
  const { say } = context;
  const label = part.query ? partsName(context, part) : say("score_others", { count: rest });
  const numbers = { value: signed(part.value, 3), mean: signed(part.mean, 3) };
  const title = say("score_part_title", { part: label, ...numbers });
  return { label, title, value: part.value, mark: part.mean };
}

/** "content × position": of the query, of the key; or what is no product. */
function partsName({ say }: TraceContext, { query, key }: ScorePart) {
  if (query === DISTANCE) return say("score_part_distance");
  const [one, other] = [query, key].map((name) => {
    const [kind, layer] = name.split(".");
    return say(`score_part_${kind}`, { layer });
  });
  return `${one} × ${other}`;
}
