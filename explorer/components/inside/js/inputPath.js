import { labelOf } from "../../shared/js/label.js";
import { layerNumber, siteOf } from "../../shared/js/stepState.js";
import { costsOf } from "./costs.js";
import { subscript } from "./numbers.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { BoxContent } from "./box.js" */
/** @import { ContentsOf } from "./path.js" */

export const INPUT_BOXES = ["tokens", "positions", "input", "normed", "query", "key", "values"];

/**
 * From the token of a query to the query, key and value of the head.
 * @type {ContentsOf}
 */
export function inputContents(context, path, head, cell) {
  const { queries, keys } = path.counts;
  const costs = costsOf(path.config, context.state.site, queries, keys);
  const pre = path.config.norm === "pre";
  return {
    ...embedding(context, path, cell.query, costs),
    normed: pre
      ? { vector: path.vector("normed", cell.query), equation: "normed", cost: costs.normed }
      : null,
    ...projections(context, path, head, cell, costs),
  };
}

/**
 * @param {TraceContext} context
 * @param {Parameters<ContentsOf>[1]} path
 * @param {number} query
 * @param {ReturnType<typeof costsOf>} costs
 * @returns {Record<string, BoxContent>}
 */
function embedding(context, path, query, costs) {
  const { say, state } = context;
  const sizes = path.config;
  const vocabulary = state.site === "encoder" ? sizes.source_vocabulary : sizes.target_vocabulary;
  const token = labelOf(siteOf(context).queryTokens[query]);
  const first = state.layer === 0 && state.site !== "cross";
  return {
    tokens: {
      vector: path.vector("tokens", query),
      equation: "tokens",
      cost: costs.tokens,
      text: say("path_tokens_text", { token, vocabulary }),
    },
    positions: {
      vector: path.vector("positions", query),
      equation: "positions",
      text: say("path_positions_text", { position: query + 1 }),
    },
    input: {
      vector: path.vector("input", query),
      equation: first ? "input" : "later",
      text: first ? "" : before(context),
    },
  };
}

/**
 * @param {TraceContext} context
 * @param {Parameters<ContentsOf>[1]} path
 * @param {Parameters<ContentsOf>[2]} head
 * @param {Parameters<ContentsOf>[3]} cell
 * @param {ReturnType<typeof costsOf>} costs
 * @returns {Record<string, BoxContent>}
 */
function projections(context, { config, counts }, head, { query, key }, costs) {
  const { say, state } = context;
  const site = siteOf(context);
  const own = config.norm === "pre" ? "" : "_post";
  const other = state.site === "cross" ? "_memory" : own;
  const [queryToken, keyToken] = [site.queryTokens[query], site.keyTokens[key]].map(labelOf);
  const from = state.site === "cross" ? "path_from_memory" : "path_from_token";
  return {
    query: {
      vector: row(head.queries, query, counts.queries),
      equation: `query${own}`,
      heading: say("path_query_heading", { number: subscript(query + 1) }),
      text: say("path_from_token", { token: queryToken }),
      cost: costs.vectors,
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

/**
 * A row of a matrix.
 * @param {Float32Array} numbers
 * @param {number} index
 * @param {number} rows
 */
function row(numbers, index, rows) {
  const width = numbers.length / rows;
  return numbers.subarray(index * width, (index + 1) * width);
}

/**
 * What the token went through before this attention.
 * @param {TraceContext} context
 */
function before(context) {
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
