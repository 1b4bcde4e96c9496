import type { Say } from "../../dom/js/sentences.ts";
import type { BoxContent } from "./box.ts";
import type { TokenPath } from "./tokenPath.ts";

/** The boxes whose equations hold in every family. */
const HOLDING = ["heads", "projected", "logits"];

/** Those that hold where the norm is the one that is printed, or stands before the sublayer. */
const SUMS = ["result", "layer"];

/**
 * The boxes of a model of the library, with names that hold in every family, and without equations
 * that do not.
 */
export function ofLibrary(
  say: Say,
  path: TokenPath,
  contents: Record<string, BoxContent | null>,
): Record<string, BoxContent | null> {
  const normed = path.norm === "LayerNorm" ? "path_normed_title" : "path_root_title";
  const names: Record<string, Partial<BoxContent>> = {
    tokens: { heading: say("path_embedding"), title: say("path_embedding_title") },
    positions: { title: say("path_added_title") },
    normed: { heading: path.norm, title: say(normed) },
    forwarded: { heading: say("path_fed"), title: say("path_fed_title") },
  };
  const printed = path.shape.norm === "pre" || path.norm === "LayerNorm";
  const holding = printed ? [...HOLDING, ...SUMS] : HOLDING;
  const known = Object.entries(contents).map(([name, content]) => {
    if (!content) return [name, null];
    const equation = holding.includes(name) ? content.equation : undefined;
    return [name, { ...content, equation, ...names[name] }];
  });
  return Object.fromEntries(known);
}
