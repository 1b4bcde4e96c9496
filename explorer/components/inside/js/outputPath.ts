import { percent } from "../../dom/js/numbers.ts";
import { isolated } from "../../dom/js/sentences.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { labelOf, markOf } from "../../trace/js/label.ts";
import { isAsked } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import type { BoxContent } from "./box.ts";
import { type Cost, type Costs, costsOf } from "./costs.ts";
import { ofLibrary } from "./libraryPath.ts";
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
  const costs = path.sizes && costsOf(path.sizes, state.site, queries, keys);
  const after = path.shape.norm === "pre" ? "" : "_post";
  const layers = path.shape[state.site === "encoder" ? "encoder_layers" : "decoder_layers"];
  const contents = {
    heads: {
      vector: path.vector("heads", query),
      equation: "heads",
      text: say("path_heads_text", { heads: path.shape.heads }),
    },
    projected: {
      vector: path.vector("projected", query),
      equation: "projected",
      cost: costs?.projected,
    },
    result: { vector: path.vector("output", query), equation: `result${after}` },
    ...feedForward(context, path, cell, costs),
    layer: { vector: path.vector("layer", query), equation: `layer${after}` },
    stack: {
      vector: path.vector("stack", query),
      equation: `stack${after}`,
      text: stackText(context, layers),
    },
    logits: logits(path, query, costs?.logits),
  };
  return path.sizes ? contents : ofLibrary(say, path, contents);
}

/** Both halves of the feed-forward network; of a model of the library its output alone. */
function feedForward(
  context: TraceContext,
  path: TokenPath,
  cell: Cell,
  costs: Costs | null,
): Record<string, BoxContent | null> {
  const { say, state } = context;
  const later = state.site === "decoder" && path.shape.encoder_layers > 0;
  const before = later ? say("path_after_cross") : "";
  const forwarded = {
    vector: path.vector("forwarded", cell.query),
    equation: "forwarded",
    cost: costs?.forwarded,
  };
  if (!path.has("hidden")) return { hidden: null, forwarded: { ...forwarded, text: before } };
  const vector = path.vector("hidden", cell.query);
  const asked = isAsked(context, "active numbers", cell);
  const active = asked ? ASKED : vector.filter((value) => value > 0).length;
  const counted = say("path_hidden_text", { active, all: vector.length });
  const hidden = {
    vector,
    equation: path.shape.norm === "pre" ? "hidden" : "hidden_post",
    cost: costs?.hidden,
    text: [before, counted].filter(Boolean).join(" · "),
  };
  return { hidden, forwarded };
}

/** @param layers of the stack */
function stackText({ say, state }: TraceContext, layers: number) {
  const left = layers - 1 - state.layer;
  const memory = state.site === "encoder" ? say("path_is_memory") : "";
  return [left > 0 && say("path_layers_after", { count: left }), memory].filter(Boolean).join(", ");
}

/** @returns null of an encoder */
function logits(path: TokenPath, query: number, cost?: Cost): BoxContent | null {
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
