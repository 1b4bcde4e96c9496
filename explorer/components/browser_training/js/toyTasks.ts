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

/** A random sequence of symbols, from 0 on. */
type Draw = (settings: Settings, random: Random) => number[];

/** The tasks of a model with an encoder, which reads a sequence and writes the answer to it. */
const RULES: Record<string, Rule> = {
  reverse: (symbols) => [...symbols].reverse(),
  copy: (symbols) => symbols,
  sort: (symbols) => [...symbols].sort((one, other) => one - other),
};

/** The tasks of a decoder alone, which continues a sequence. */
const CONTINUED: Record<string, Draw> = { induction: drawRepeated };

export const TASKS = [...Object.keys(RULES), ...Object.keys(CONTINUED)];

export function isContinued(task: string) {
  return Object.hasOwn(CONTINUED, task);
}

/** Token ids (size, width); what ends before the width is filled with padding. */
export interface Batch {
  size: number;
  width: number;
  source: Int32Array<ArrayBuffer> | null; // symbols and the end; null for a decoder alone
  target: Int32Array<ArrayBuffer>; // what is fed in: the beginning, the answer and, if it fits, the end
  answer: Int32Array<ArrayBuffer>; // what is to be written: the answer and the end
}

export const SHORTEST_BLOCK = 4; // symbols that induction repeats
const SHORTEST_HELD_OUT = 5; // symbols
const MODULUS = 127;
const FACTOR = 3;

/** `size` random sequences, none held out. */
export function drawBatch(settings: Settings, size: number, random: Random): Batch {
  const { task, longest } = settings;
  const width = longest + 1;
  const empty = () => new Int32Array(size * width);
  const [target, answer] = [empty(), empty()];
  const source = isContinued(task) ? null : empty();
  const draw = source ? drawSequence : CONTINUED[task];
  for (let row = 0; row < size; row++) {
    const ids = draw(settings, random).map((symbol) => symbol + SPECIALS.length);
    const answered = answerOf(task, ids);
    source?.set([...ids, EOS], row * width);
    target.set([BOS, ...answered, EOS].slice(0, width), row * width);
    answer.set([...answered, EOS], row * width);
  }
  return { size, width, source, target, answer };
}

/**
 * 1 to the longest number of symbols. Some sequences use few different ones, because repeats would be
 * too rare to be learnt; the logarithm of how many is uniform.
 */
function drawSequence({ symbols, longest, small_alphabets }: Settings, random: Random) {
  const all = symbols.length;
  const length = 1 + random.below(longest);
  const few = random.share() < small_alphabets;
  const size = few ? Math.max(1, Math.floor((all + 1) ** random.share())) : all;
  const alphabet = shuffled(all, random).slice(0, size);
  const drawn = Array.from({ length }, () => alphabet[random.below(size)]);
  if (isHeldOut(drawn)) drawn[0] = (drawn[0] + 1) % all;
  return drawn;
}

/**
 * The longest number of symbols: a block of different ones, again and again, as
 * `continued_tasks/induction.py` draws it. Held out is what begins with a held-out sequence.
 */
function drawRepeated({ symbols, longest }: Settings, random: Random) {
  const most = mostOfBlock(longest, symbols.length);
  const size = SHORTEST_BLOCK + random.below(most - SHORTEST_BLOCK + 1);
  const block = shuffled(symbols.length, random).slice(0, size);
  const repeated = () => Array.from({ length: longest }, (_, at) => block[at % size]);
  if (isHeldOut(repeated().slice(0, SHORTEST_HELD_OUT))) block.unshift(...block.splice(1, 1));
  return repeated();
}

/** The most symbols of a repeated block: it comes twice, with different symbols. */
export function mostOfBlock(longest: number, symbols: number) {
  return Math.min(Math.floor(longest / 2), symbols);
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

/** The answer to a sequence of token ids; of a decoder alone, the sequence. */
export function answerOf(task: string, ids: number[]) {
  return isContinued(task) ? ids : RULES[task](ids);
}
