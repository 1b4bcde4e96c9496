/**
 * What is measured of a model on held-out sequences, from its losses, its most probable tokens and its
 * attention, as `toy_evaluation.py` and `continued_evaluation.py` do.
 */

import { goldAlignment } from "../../browser_model/js/goldAlignment.ts";
import { EOS, PAD } from "../../browser_model/js/vocabulary.ts";
import { type Batch, isContinued } from "./toyTasks.ts";

/** A sequence of a batch, and what is known of the token after each of its rows. */
export interface Sequence {
  start: number; // of its tokens in the batch
  follows: number[]; // the answer and the end, without padding
  gold: ArrayLike<number>; // (rows, width): 1 = the token may be copied from there
  known: boolean[]; // by row: whether it may be copied from anywhere
}

/** The attention of a layer in all sequences: (B, H, width, width). */
export interface Pattern {
  heads: number;
  width: number;
  weights: ArrayLike<number>;
}

/** What is measured where a decoder alone continues sequences. */
export interface ContinuedNumbers {
  known_loss: number; // nats a symbol that may be copied
  new_loss: number; // of the other symbols
  previous: number[][]; // (layer, head): weight of the new tokens on those before them
}

export function sequencesOf(task: string, { size, width, source, answer }: Batch): Sequence[] {
  return Array.from({ length: size }, (_, row) => {
    const start = row * width;
    const part = (ids: Int32Array) => Array.from(ids.subarray(start, start + width));
    const follows = part(answer).filter((token) => token !== PAD);
    const gold = goldAlignment(task, source ? part(source) : [], follows)?.values ?? [];
    const known = follows.map((_, at) => onGold({ gold, width, at }, () => 1) > 0);
    return { start, follows, gold, known };
  });
}

/** Mean cross-entropy; `losses` has 0 where there is padding. */
export function meanLoss({ answer }: Batch, losses: ArrayLike<number>) {
  return sum(Array.from(losses)) / answer.filter((token) => token !== PAD).length;
}

/**
 * Share of the sequences of which each known token and the end is the most probable one after the
 * right ones before it: these, and no others, are written rightly by greedy decoding.
 * @param best the most probable token after each of the batch
 */
export function exactMatch(sequences: readonly Sequence[], best: ArrayLike<number>) {
  return mean(
    sequences.map(({ start, follows, known }) =>
      Number(follows.every((token, at) => isFree(token, known[at]) || token === best[start + at])),
    ),
  );
}

/** Whether nobody can know the token. */
function isFree(token: number, known: boolean) {
  return !known && token !== EOS;
}

/** (layer, head): the mean of each sequence's mean weight on the gold positions of its known rows. */
export function goldWeights(sequences: readonly Sequence[], patterns: readonly Pattern[]) {
  return ofHeads(patterns, (weightOf, width) =>
    mean(
      sequences.map(({ gold, known }, number) =>
        mean(
          rowsOf(known).map((at) =>
            onGold({ gold, width, at }, (key) => weightOf(number, at, key)),
          ),
        ),
      ),
    ),
  );
}

/** @returns nothing for a task that is not continued */
export function continuedNumbers(
  task: string,
  sequences: readonly Sequence[],
  losses: ArrayLike<number>,
  patterns: readonly Pattern[],
): ContinuedNumbers | undefined {
  if (!isContinued(task)) return undefined;
  const lossOf = (counts: (sequence: Sequence, at: number) => boolean) =>
    mean(
      sequences.flatMap((sequence) =>
        sequence.follows.flatMap((_, at) =>
          counts(sequence, at) ? losses[sequence.start + at] : [],
        ),
      ),
    );
  return {
    known_loss: lossOf(({ known }, at) => known[at]),
    new_loss: lossOf(({ follows, known }, at) => isFree(follows[at], known[at])),
    previous: previousWeights(sequences, patterns),
  };
}

/** The first symbol has the beginning before it, and the row of the beginning nothing. */
const FIRST_WITH_SYMBOL_BEFORE = 2;

function previousWeights(sequences: readonly Sequence[], patterns: readonly Pattern[]) {
  const rows = sequences.map(({ known }) =>
    rowsOf(known.map((_, at) => at >= FIRST_WITH_SYMBOL_BEFORE && !known[at - 1])),
  );
  return ofHeads(patterns, (weightOf) =>
    mean(rows.flatMap((own, number) => own.map((at) => weightOf(number, at, at - 1)))),
  );
}

/** A number of each head, (layer, head), from the weight of a sequence's query on a key. */
function ofHeads(
  patterns: readonly Pattern[],
  measure: (
    weightOf: (number: number, query: number, key: number) => number,
    width: number,
  ) => number,
) {
  return patterns.map(({ heads, width, weights }) =>
    Array.from({ length: heads }, (_, head) =>
      measure(
        (number, query, key) => weights[((number * heads + head) * width + query) * width + key],
        width,
      ),
    ),
  );
}

/** The sum over the gold positions of a row. */
function onGold(
  { gold, width, at }: { gold: ArrayLike<number>; width: number; at: number },
  valueAt: (key: number) => number,
) {
  let total = 0;
  for (let key = 0; key < width; key++) if (gold[at * width + key]) total += valueAt(key);
  return total;
}

function rowsOf(chosen: readonly boolean[]) {
  return chosen.flatMap((is, at) => (is ? at : []));
}

function mean(numbers: readonly number[]) {
  return sum(numbers) / numbers.length;
}

function sum(numbers: readonly number[]) {
  return numbers.reduce((one, other) => one + other, 0);
}
