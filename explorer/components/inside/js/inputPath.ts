import { labelOf } from "../../trace/js/label.ts";
import { layerNumber, siteOf } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import type { BoxContent } from "./box.ts";
import { type Costs, costsOf } from "./costs.ts";
import { ofLibrary } from "./libraryPath.ts";
import { subscript } from "./printedNumbers.ts";
import type { TokenPath } from "./tokenPath.ts";

export const INPUT_BOXES = ["tokens", "positions", "input", "normed", "query", "key", "values"];

/** From the token of a query to the query, key and value of the head. */
export function inputContents(
  context: TraceContext,
  path: TokenPath,
  head: HeadVectors,
  cell: Cell,
): Record<string, BoxContent | null> {
  const { queries, keys } = path.counts;
  const costs = path.sizes && costsOf(path.sizes, context.state.site, queries, keys);
  const pre = path.shape.norm === "pre";
  const contents = {
    ...embedding(context, path, cell.query, costs),
    normed: pre
      ? { vector: path.vector("normed", cell.query), equation: "normed", cost: costs?.normed }
      : null,
    ...projections(context, path, head, cell, costs),
  };
  return path.sizes ? contents : ofLibrary(context.say, path, contents);
}

function embedding(
  context: TraceContext,
  path: TokenPath,
  query: number,
  costs: Costs | null,
): Record<string, BoxContent | null> {
  const { say, state } = context;
  const first = state.layer === 0 && state.site !== "cross";
  return {
    tokens: path.has("tokens")
      ? {
          vector: path.vector("tokens", query),
          equation: "tokens",
          cost: costs?.tokens,
          text: tokenText(context, path, query),
        }
      : null,
    positions: path.has("positions")
      ? {
          vector: path.vector("positions", query),
          equation: "positions",
          text: say("path_positions_text", { position: query + 1 }),
        }
      : null,
    input: {
      vector: path.vector("input", query),
      equation: first ? "input" : "later",
      text: first ? "" : before(context),
    },
  };
}

/** The token of a query and, where it is known, the size of its vocabulary. */
function tokenText(context: TraceContext, { sizes }: TokenPath, query: number) {
  const { say, state } = context;
  const token = labelOf(siteOf(context).queryTokens[query]);
  if (!sizes) return say("path_from_token", { token });
  const vocabulary = state.site === "encoder" ? sizes.source_vocabulary : sizes.target_vocabulary;
  return say("path_tokens_text", { token, vocabulary });
}

function projections(
  context: TraceContext,
  { shape, counts }: TokenPath,
  head: HeadVectors,
  { query, key }: Cell,
  costs: Costs | null,
): Record<string, BoxContent> {
  const { say, state } = context;
  const site = siteOf(context);
  const own = shape.norm === "pre" ? "" : "_post";
  const other = state.site === "cross" ? "_memory" : own;
  const [queryToken, keyToken] = [site.queryTokens[query], site.keyTokens[key]].map(labelOf);
  const from = state.site === "cross" ? "path_from_memory" : "path_from_token";
  return {
    query: {
      vector: row(head.queries, query, counts.queries),
      equation: `query${own}`,
      heading: say("path_query_heading", { number: subscript(query + 1) }),
      text: say("path_from_token", { token: queryToken }),
      cost: costs?.vectors,
    },
    key: {
      vector: row(head.keys, key, counts.keys),
      equation: `key${other}`,
      heading: say("path_key_heading", { number: subscript(key + 1) }),
      text: say(from, { token: keyToken }),
    },
    values: {
      vector: row(head.values, key, counts.keys),
      equation: `value${other}`,
      heading: say("path_values_heading", { number: subscript(key + 1) }),
      text: say(from, { token: keyToken }),
    },
  };
}

/** A row of a matrix. */
function row(numbers: Float32Array, index: number, rows: number) {
  const width = numbers.length / rows;
  return numbers.subarray(index * width, (index + 1) * width);
}

/** What the token went through before this attention. */
function before(context: TraceContext) {
  const { say, state } = context;
  const last = state.layer - 1;
  const names = [0, last].map((layer) => `L${layerNumber(context, layer)}`);
  const layers = last > 0 ? names.join("–") : names[0];
  const parts = [
    last >= 0 && say("path_after_layers", { layers }),
    state.site === "cross" && say("path_after_self"),
  ];
  return parts.filter(Boolean).join(", ");
}
