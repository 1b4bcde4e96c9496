import { isSpecial, termOf } from "../../trace/js/label.ts";
import type { Candidate, Trace } from "../../trace/js/trace.ts";
import { alphabetical } from "./candidates.ts";

const MOST = 4; // choices
const MOST_KEYS = 6; // that are all offered

type Text = Pick<Trace, "header" | "source" | "target">;

/**
 * The tokens among which a class chooses the next one, at most four: the model's own, and wrong ones.
 * In an order that tells nothing.
 *
 * The wrong ones are symbols of the text where the output has the same symbols, the likeliest first;
 * else the likeliest tokens.
 * @param listed from the most probable one on
 * @param row after which the token comes
 */
export function tokensOffered(
  text: Text,
  listed: Pick<Candidate, "token" | "chosen">[],
  row: number,
) {
  const likely = listed.map(({ token }) => token);
  const chosen = listed.filter((candidate) => candidate.chosen).map(({ token }) => token);
  const symbols = text.header.marked ? [] : symbolsOf(text, row);
  const wrong = symbols.length
    ? [...likely.filter((token) => symbols.includes(token)), ...symbols]
    : likely;
  return alphabetical([...new Set([...chosen, ...wrong])].slice(0, MOST));
}

/** The symbols that a person sees before the next one, the end of the source last. */
function symbolsOf({ header, source, target }: Text, row: number) {
  if (!header.sites.cross) return target.slice(0, row + 1).filter((token) => !isSpecial(token));
  const content = source.filter((_, position) => header.content.source[position]);
  return [...content, ...source.filter((token) => termOf(token) === "term_eos")];
}

/**
 * The keys among which a class chooses the one with the largest weight, from left to right: all of a
 * short text, of a longer one the four with the largest weights.
 * @param keys that the row may attend to
 * @param weights of the row
 */
export function keysOffered(keys: number[], weights: ArrayLike<number>) {
  if (keys.length <= MOST_KEYS) return keys;
  const largest = [...keys].sort((one, other) => weights[other] - weights[one]);
  return largest.slice(0, MOST).sort((one, other) => one - other);
}
