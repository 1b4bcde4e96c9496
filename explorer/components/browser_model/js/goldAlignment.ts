/**
 * The gold alignment of the toy tasks: for each symbol of the answer, the positions in the source
 * that it may come from, as in `explorer/data/toy_tasks/`.
 */

import { SPECIALS } from "../../trace/js/look.ts";
import { PAD } from "./vocabulary.ts";

/** By task. */
const ALIGNMENTS: Record<string, (symbols: number[]) => number[][]> = {
  copy: (symbols) => symbols.map((_, position) => [position]),
  reverse: (symbols) => symbols.map((_, position) => [symbols.length - 1 - position]),
  sort: (symbols) =>
    [...symbols]
      .sort((one, other) => one - other)
      .map((answer) => symbols.flatMap((symbol, position) => (symbol === answer ? position : []))),
};

/**
 * The gold alignment (T, S), 1 = may come from there; null for another task.
 * @param source ids
 * @param steps T
 */
export function goldAlignment(task: unknown, source: readonly number[], steps: number) {
  const align = Object.hasOwn(ALIGNMENTS, String(task)) ? ALIGNMENTS[String(task)] : null;
  if (!align) return null;
  const symbols = source.filter((token) => token >= SPECIALS.length && token !== PAD);
  const gold = new Uint8Array(steps * source.length);
  align(symbols)
    .slice(0, steps)
    .forEach((positions, row) => {
      for (const position of positions) gold[row * source.length + position] = 1;
    });
  return gold;
}
