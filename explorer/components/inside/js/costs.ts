import type { SiteName } from "../../trace/js/trace.ts";
import type { Sizes } from "./tokenPath.ts";

export interface Cost {
  parameters: number; // weights and biases
  products: number; // multiplications, each with an addition, for the whole text
}

type CostName =
  | "tokens"
  | "normed"
  | "vectors"
  | "scores"
  | "mix"
  | "projected"
  | "hidden"
  | "forwarded"
  | "logits";

export type Costs = Record<CostName, Cost>;

/**
 * What each part of a layer costs: its parameters, and multiply–adds for `queries` × `keys` tokens.
 */
export function costsOf(config: Sizes, site: SiteName, queries: number, keys: number): Costs {
  const { d_model: width, d_ff: hidden } = config;
  const vocabulary = site === "encoder" ? config.source_vocabulary : config.target_vocabulary;
  const square = width * width;
  return {
    tokens: { parameters: vocabulary * width, products: queries * width },
    normed: { parameters: 2 * width, products: queries * width },
    vectors: { parameters: 3 * (square + width), products: (queries + 2 * keys) * square },
    scores: { parameters: 0, products: queries * keys * width },
    mix: { parameters: 0, products: queries * keys * width },
    projected: { parameters: square + width, products: queries * square },
    hidden: { parameters: (width + 1) * hidden, products: queries * width * hidden },
    forwarded: { parameters: (hidden + 1) * width, products: queries * hidden * width },
    logits: { parameters: (width + 1) * vocabulary, products: queries * width * vocabulary },
  };
}

const OF_ATTENTION: CostName[] = ["vectors", "scores", "mix", "projected"];

/**
 * The cost of a whole attention, all heads, and how many times as many multiply–adds twice the text
 * takes.
 */
export function attentionCost(
  config: Sizes,
  site: SiteName,
  queries: number,
  keys: number,
): Cost & { growth: number } {
  const now = sumOf(costsOf(config, site, queries, keys));
  const twice = sumOf(costsOf(config, site, 2 * queries, 2 * keys));
  return { ...now, growth: twice.products / now.products };
}

function sumOf(costs: Costs): Cost {
  const own = OF_ATTENTION.map((name) => costs[name]);
  return {
    parameters: own.reduce((sum, { parameters }) => sum + parameters, 0),
    products: own.reduce((sum, { products }) => sum + products, 0),
  };
}
