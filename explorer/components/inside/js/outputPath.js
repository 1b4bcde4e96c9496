import { labelOf, markOf } from "../../shared/js/label.js";
import { percent } from "../../shared/js/numbers.js";
import { isolated } from "../../shared/js/sentences.js";
import { costsOf } from "./costs.js";
import { decimal } from "./numbers.js";

/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { BoxContent } from "./box.js" */
/** @import { ContentsOf } from "./path.js" */
/** @import { TokenPath } from "./tokenPath.js" */

export const OUTPUT_BOXES = [
  "heads",
  "projected",
  "result",
  "hidden",
  "forwarded",
  "layer",
  "stack",
  "logits",
];
const SHOWN = 3; // candidates

/**
 * From the outputs of all heads to the next token.
 * @type {ContentsOf}
 */
export function outputContents(context, path, _head, { query }) {
  const { say, state } = context;
  const { queries, keys } = path.counts;
  const costs = costsOf(path.config, state.site, queries, keys);
  const after = path.config.norm === "pre" ? "" : "_post";
  const hidden = path.vector("hidden", query);
  const active = hidden.filter((value) => value > 0).length;
  const layers = path.config[state.site === "encoder" ? "encoder_layers" : "decoder_layers"];
  return {
    heads: {
      vector: path.vector("heads", query),
      equation: "heads",
      text: say("path_heads_text", { heads: path.config.heads }),
    },
    projected: {
      vector: path.vector("projected", query),
      equation: "projected",
      cost: costs.projected,
    },
    result: { vector: path.vector("output", query), equation: `result${after}` },
    hidden: {
      vector: hidden,
      equation: `hidden${after}`,
      cost: costs.hidden,
      text: [
        state.site === "decoder" && say("path_after_cross"),
        say("path_hidden_text", { active, all: hidden.length }),
      ]
        .filter(Boolean)
        .join(" · "),
    },
    forwarded: {
      vector: path.vector("forwarded", query),
      equation: "forwarded",
      cost: costs.forwarded,
    },
    layer: { vector: path.vector("layer", query), equation: `layer${after}` },
    stack: {
      vector: path.vector("stack", query),
      equation: `stack${after}`,
      text: stackText(context, layers),
    },
    logits: logits(context, path, query, costs.logits),
  };
}

/**
 * @param {TraceContext} context
 * @param {number} layers of the stack
 */
function stackText({ say, state }, layers) {
  const left = layers - 1 - state.layer;
  const memory = state.site === "encoder" ? say("path_is_memory") : "";
  return [left > 0 && say("path_layers_after", { count: left }), memory].filter(Boolean).join(", ");
}

/**
 * @param {TraceContext} _context
 * @param {TokenPath} path
 * @param {number} query
 * @param {import("./costs.js").Cost} cost
 * @returns {BoxContent | null} null of an encoder
 */
function logits(_context, path, query, cost) {
  const candidates = path.candidates(query);
  if (!candidates.length) return null;
  const lines = candidates
    .slice(0, SHOWN)
    .map(
      ({ label, logit, probability }) =>
        `${isolated(markOf(label) + labelOf(label))}: ${decimal(logit)} → ${percent(probability)}`,
    );
  return { equation: "logits", text: lines.join("\n"), cost };
}
