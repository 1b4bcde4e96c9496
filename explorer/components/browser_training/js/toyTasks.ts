/**
 * Batches of the toy tasks, drawn as `explorer/data/toy_data.py` draws them. Which sequences are held
 * out is computed from their symbols, by the same rule, so that neither program trains on one.
 */

import { BOS, EOS } from "../../browser_model/js/vocabulary.ts";
import { SPECIALS } from "../../trace/js/look.ts";
import type { Random } from "./random.ts";
import type { Settings } from "./settings.ts";

/** From the symbols of a sequence to those of its answer, which has the same length. */
type Rule = (symbols: number[]) => number[];

/** The tasks that train here. */
const RULES: Record<string, Rule> = {
  reverse: (symbols) => [...symbols].reverse(),
  copy: (symbols) => symbols,
  sort: (symbols) => [...symbols].sort((one, other) => one - other),
};

export const TASKS = Object.keys(RULES);

/** Token ids (size, width); what ends before the width is filled with padding. */
export interface Batch {
  size: number;
  width: number;
  source: Int32Array<ArrayBuffer>; // symbols and the end
  target: Int32Array<ArrayBuffer>; // what is fed in: the beginning, the answer and, if it fits, the end
  answer: Int32Array<ArrayBuffer>; // what is to be written: the answer and the end
}

const SHORTEST_HELD_OUT = 5; // symbols
const MODULUS = 127;
const FACTOR = 3;

/** `size` random sequences of 1 to the longest number of symbols, none held out. */
export function drawBatch(settings: Settings, size: number, random: Random): Batch {
  const width = settings.longest + 1;
  const [source, target, answer] = [0, 1, 2].map(() => new Int32Array(size * width));
  for (let row = 0; row < size; row++) {
    const symbols = drawSequence(settings, random);
    if (isHeldOut(symbols)) symbols[0] = (symbols[0] + 1) % settings.symbols.length;
    const ids = symbols.map((symbol) => symbol + SPECIALS.length);
    const answered = RULES[settings.task](ids);
    source.set([...ids, EOS], row * width);
    target.set([BOS, ...answered, EOS].slice(0, width), row * width);
    answer.set([...answered, EOS], row * width);
  }
  return { size, width, source, target, answer };
}

/**
 * Symbols from 0 on. Some sequences use few different ones, because repeats would be too rare to be
 * learnt; the logarithm of how many is uniform.
 */
function drawSequence({ symbols, longest, small_alphabets }: Settings, random: Random) {
  const all = symbols.length;
  const length = 1 + random.below(longest);
  const few = random.share() < small_alphabets;
  const size = few ? Math.max(1, Math.floor((all + 1) ** random.share())) : all;
  const alphabet = shuffled(all, random).slice(0, size);
  return Array.from({ length }, () => alphabet[random.below(size)]);
}

function shuffled(count: number, random: Random) {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/**
 * Whether a sequence of symbols, from 0 on, is never trained on: one of five or more whose weighted
 * sum is 0 modulo a prime, unless all its symbols are the same.
 */
export function isHeldOut(symbols: number[]) {
  let [sum, weight] = [0, 1];
  for (const symbol of symbols) {
    sum += weight * symbol;
    weight = (FACTOR * weight) % MODULUS;
  }
  const repeated = symbols.every((symbol) => symbol === symbols[0]);
  return symbols.length >= SHORTEST_HELD_OUT && sum % MODULUS === 0 && !repeated;
}

/** The answer to a sequence of token ids. */
export function answerOf(task: string, ids: number[]) {
  return RULES[task](ids);
}
