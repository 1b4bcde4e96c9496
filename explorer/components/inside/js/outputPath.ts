import { percent } from "../../dom/js/numbers.ts";
import { isolated } from "../../dom/js/sentences.ts";
import { ASKED } from "../../page/js/lessonEvents.ts";
import { labelOf, markOf } from "../../trace/js/label.ts";
import { isAsked } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import type { BoxContent } from "./box.ts";
import { costsOf } from "./costs.ts";
import { decimal } from "./printedNumbers.ts";
import type { TokenPath } from "./tokenPath.ts";

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

/** From the outputs of all heads to the next token. */
export function outputContents(
  context: TraceContext,
  path: TokenPath,
  _head: HeadVectors,
  cell: Cell,
): Record<string, BoxContent | null> {
  const { query } = cell;
  const { say, state } = context;
  const { queries, keys } = path.counts;
  const costs = costsOf(path.config, state.site, queries, keys);
  const after = path.config.norm === "pre" ? "" : "_post";
  const hidden = path.vector("hidden", query);
  const asked = isAsked(context, "active numbers", cell);
  const active = asked ? ASKED : hidden.filter((value) => value > 0).length;
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
        state.site === "decoder" && path.config.encoder_layers > 0 && say("path_after_cross"),
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

/** @param layers of the stack */
function stackText({ say, state }: TraceContext, layers: number) {
  const left = layers - 1 - state.layer;
  const memory = state.site === "encoder" ? say("path_is_memory") : "";
  return [left > 0 && say("path_layers_after", { count: left }), memory].filter(Boolean).join(", ");
}

/** @returns null of an encoder */
function logits(
  _context: TraceContext,
  path: TokenPath,
  query: number,
  cost: import("./costs.ts").Cost,
): BoxContent | null {
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
