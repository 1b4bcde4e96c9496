/**
 * The gold alignment of the toy tasks: for each symbol of the answer, the positions that it may come
 * from, as in `explorer/data/toy_tasks/` and `explorer/data/continued_tasks/`.
 */

import { SPECIALS } from "../../trace/js/look.ts";
import type { CapturedArray } from "./attentionCapture.ts";

/** By task, from the symbols of the source, or of the sequence that a decoder alone continues. */
const ALIGNMENTS: Record<string, (symbols: number[]) => number[][]> = {
  copy: (symbols) => symbols.map((_, position) => [position]),
  induction: (symbols) =>
    symbols.map((_, position) =>
      symbols
        .slice(0, Math.max(0, position - 1))
        .flatMap((symbol, place) => (symbol === symbols[position - 1] ? place + 1 : [])),
    ),
  reverse: (symbols) => symbols.map((_, position) => [symbols.length - 1 - position]),
  sort: (symbols) =>
    [...symbols]
      .sort((one, other) => one - other)
      .map((answer) => symbols.flatMap((symbol, position) => (symbol === answer ? position : []))),
};

/**
 * The gold alignment (T, S), of a decoder alone (T, T): 1 = may come from there. Null for another
 * task.
 * @param source ids; none for a decoder alone
 * @param follows the id after each row
 */
export function goldAlignment(
  task: unknown,
  source: readonly number[],
  follows: readonly number[],
): CapturedArray | null {
  const align = Object.hasOwn(ALIGNMENTS, String(task)) ? ALIGNMENTS[String(task)] : null;
  if (!align) return null;
  const [read, first] = source.length ? [source, 0] : [follows, 1]; // after its beginning
  const shape = [follows.length, read.length];
  const values = new Uint8Array(follows.length * read.length);
  align(read.filter((token) => token >= SPECIALS.length))
    .slice(0, follows.length)
    .forEach((positions, row) => {
      for (const position of positions) values[row * read.length + first + position] = 1;
    });
  return { values, shape };
}
