import { readEnvelope } from "../../page/js/envelope.ts";
import type { SiteName } from "../../trace/js/trace.ts";

/** What the heads of one attention add at one step, in nats. */
export interface HeadParts {
  site: SiteName;
  heads: number; // of a layer
  values: Float32Array; // layer by layer
  total: number;
}

type Other = "embedding" | "feed_forward" | "bias";

/**
 * What makes the model choose the token of one step and not the
 * runner-up, in nats: all parts sum to the difference of their log probabilities.
 */
export interface StepParts {
  runnerUp: string;
  difference: number;
  attentions: HeadParts[];
  others: { name: Other; value: number }[];
  heads: number; // sum over all heads
  rest: number; // sum over the others
}

export interface Attribution {
  of: (row: number) => StepParts; // row: of the trace in pieces
  largestHead: number; // the largest part of a head at any step, without its sign
  largest: number; // the largest of all numbers but the parts of single heads
}

export const SITES = ["decoder", "cross"] as const;
const OTHERS = ["feed_forward", "embedding", "bias"] as const;

/** The parts of heads in the choice of each token, in the format of `player/contributions.py`. */
export function readAttribution(bytes: Uint8Array): Attribution {
  const { header, array } = readEnvelope<{
    runner_up: string[];
    heads: Record<string, [number, number]>;
  }>(bytes);
  const numbers = (name: string) => {
    const found = array(name);
    if (!found) throw new Error(`no parts: ${name}`);
    return found as Float32Array;
  };
  const sites = SITES.filter((site) => header.heads[site]);
  const attention = (site: SiteName, row: number): HeadParts => {
    const [layers, heads] = header.heads[site];
    const values = numbers(site).subarray(row * layers * heads, (row + 1) * layers * heads);
    return { site, heads, values, total: sumOf(values) };
  };
  const of: Attribution["of"] = (row) => {
    const attentions = sites.map((site) => attention(site, row));
    const others = OTHERS.map((name) => ({ name, value: numbers(name)[row] }));
    return {
      runnerUp: header.runner_up[row],
      difference: numbers("difference")[row],
      attentions,
      others,
      heads: sumOf(attentions.map(({ total }) => total)),
      rest: sumOf(others.map(({ value }) => value)),
    };
  };
  const steps = header.runner_up.map((_, row) => of(row));
  const groups = steps.flatMap(({ attentions, others, difference }) => [
    difference,
    ...attentions.map(({ total }) => total),
    ...others.map(({ value }) => value),
  ]);
  return {
    of: (row) => steps[row],
    largestHead: largestOf(sites.flatMap((site) => [...numbers(site)])),
    largest: largestOf(groups),
  };
}

function sumOf(numbers: ArrayLike<number>) {
  return Array.from(numbers).reduce((sum, number) => sum + number, 0);
}

function largestOf(numbers: number[]) {
  return numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
}
