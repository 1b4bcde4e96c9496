import type { Candidate, Trace } from "../../trace/js/trace.ts";
import { alphabetical } from "./candidates.ts";

const LIKELY = 3; // tokens; one that is wrong stands beside them
const MOST_KEYS = 6; // that are all offered

/**
 * The tokens among which a class chooses the next one, at most four: the likeliest, the model's own
 * among them, and a wrong one. In an order that tells nothing.
 *
 * The wrong one is a symbol of the source where the output has the same symbols, so that whoever
 * thinks that the model copies can vote for it; else the next candidate.
 * @param listed from the most probable one on
 */
export function tokensOffered(
  { header, source }: Pick<Trace, "header" | "source">,
  listed: Pick<Candidate, "token" | "chosen">[],
) {
  const chosen = listed.filter((candidate) => candidate.chosen);
  const others = listed.filter((candidate) => !candidate.chosen);
  const tokens = [...chosen, ...others].map(({ token }) => token);
  const likely = tokens.slice(0, LIKELY);
  const copies = header.marked || !header.sites.cross ? [] : contentOf({ header, source });
  const wrong = [...copies, ...tokens].find((token) => !likely.includes(token));
  return alphabetical(wrong === undefined ? likely : [...likely, wrong]);
}

function contentOf({ header, source }: Pick<Trace, "header" | "source">) {
  return source.filter((_, position) => header.content.source[position]);
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
  return largest.slice(0, LIKELY + 1).sort((one, other) => one - other);
}
