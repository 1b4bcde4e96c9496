/**
 * Text in, attention out: what `explorer/model/explorable.py` does in Python. A trace is plain data
 * with typed arrays, which a worker can post to its page.
 */

import type { Drawing } from "../../trace/js/drawing.ts";
import { changed, linesIn, NO_CHANGE } from "../../trace/js/interventions.ts";
import type { Intervention } from "../../trace/js/verbs.ts";
import {
  type Capture,
  type CapturedArrays,
  capturing,
  maskCodes,
  sitesOf,
  stackOf,
} from "./attentionCapture.ts";
import { stepCandidates } from "./candidates.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { AFTER_PROMPT, decodingSteps, type Forced } from "./decoding.ts";
import { goldAlignment } from "./goldAlignment.ts";
import { digestOf } from "./integrity.ts";
import { editMaskCodes, intervening, interventionsOf, looksAhead } from "./interventions.ts";
import { type Mask, paddingMask } from "./masks.ts";
import { isDecoderOnly, type ModelConfig } from "./modelConfig.ts";
import { ModelError } from "./modelError.ts";
import { validText } from "./pieceVocabulary.ts";
import { BOS, EOS, PAD } from "./vocabulary.ts";

export interface Request {
  target?: string; // the whole output, for teacher forcing
  prefix?: string; // the beginning of the output; the rest is decoded
  force?: Forced; // the other steps are decoded
  padTo?: number; // tokens to which the source is padded
  capture?: Capture;
  interventions?: readonly string[]; // lines
  onToken?: (chosen: number[]) => void; // told of each decoded token: all ids up to it
}

/** What a model reads: ids of the source, with end and padding, and of the prompt; one is empty. */
type Read = { source: number[]; prompt: number[] };

type LabelledCandidate = import("./candidates.ts").Candidate & { token: string };

type TraceFacts = Record<string, unknown> & {
  config: ModelConfig;
  prompt?: number;
  interventions?: string[];
};

export interface ModelTrace {
  sourceTokens: string[]; // labels of the keys, with end and padding
  targetTokens: string[]; // labels of what is fed in at each step
  predictedTokens: string[]; // labels of what was chosen at each step
  text: string; // the output
  chosen: number[]; // ids of the chosen tokens
  logits: Float32Array; // (T, V) that the probabilities are of
  stepwise: Float32Array; // (T, V) that each token was chosen from, step by step
  candidates: LabelledCandidate[]; // of all steps
  /**
   * of the pass that captures; in full its logits, too; "gold"
   * where the gold alignment is known
   */
  arrays: CapturedArrays;
  source: number[]; // ids, with end and padding
  captured: Float32Array; // logits (T, V) of the pass that captures
  facts: TraceFacts; // where the trace comes from, as in Python
  digest: number; // of what the trace shows, when it was captured
}

/** The facts of a checkpoint that a trace repeats. */
const KEPT = ["task", "longest", "steps", "exact_match", "bleu"];

export class ExplorableModel {
  checkpoint: Checkpoint;
  name: string;

  constructor(checkpoint: Checkpoint, name: string) {
    this.checkpoint = checkpoint;
    this.name = name;
  }

  /** The model in the bytes of a checkpoint file called `name`. Throws a `ModelError`. */
  static read(data: Uint8Array, name: string) {
    return new ExplorableModel(readCheckpoint(data, name), name.replace(/\.safetensors$/, ""));
  }

  /**
   * Decode `text` greedily, then capture the attention in one pass over the result. Throws a
   * `ModelError` on a text, token or step that does not exist or is too long.
   */
  trace(text: string, request: Request = {}): ModelTrace {
    const { transformer, sourceVocabulary, targetVocabulary } = this.checkpoint;
    const read = this.read(text, request.padTo);
    const { source, prompt } = read;
    const forced = this.forced(request, prompt.length);
    const imposed = { ...Object.fromEntries(numbered(prompt, 1)), ...forced };
    const interventions = interventionsOf(request.interventions ?? []);
    const pass = intervening(transformer, interventions, () =>
      this.captured(read, imposed, interventions, request),
    );
    const { chosen, arrays } = pass;
    // Only the full pass has later positions to unmask; step-by-step decoding does not.
    const logits = looksAhead(interventions) ? pass.captured : pass.logits;
    const gold = goldAlignment(this.checkpoint.facts.task, source, chosen);
    if (gold) arrays.gold = gold;
    const steps = new Set(Object.keys(imposed).map(Number));
    const candidates = stepCandidates(logits, chosen, steps);
    const labels = targetVocabulary.labels(candidates.map(({ id }) => id));
    const trace = {
      sourceTokens: sourceVocabulary.labels(source),
      targetTokens: targetVocabulary.labels(fedIn(chosen)),
      predictedTokens: targetVocabulary.labels(chosen),
      text: targetVocabulary.decode(chosen.slice(prompt.length)),
      chosen,
      logits,
      stepwise: pass.logits,
      candidates: candidates.map((candidate, index) => ({ ...candidate, token: labels[index] })),
      arrays,
      source,
      captured: pass.captured,
      facts: this.described(text, forced, request, { chosen, prompt }),
    };
    return { ...trace, digest: digestOf(trace) };
  }

  /**
   * Decode what was read, then capture the attention of the result in one pass.
   * @param imposed the tokens of the prompt, and forced ones
   */
  captured(
    read: Read,
    imposed: Forced,
    interventions: readonly Intervention[],
    { capture = "pattern", onToken }: Request,
  ) {
    const { transformer } = this.checkpoint;
    const { source } = read;
    const mask = paddingMask(source);
    const sites = sitesOf(transformer.config);
    const [encoder, decoder] = ["encoder", "decoder"].map((stack) =>
      sites.filter((site) => stackOf(site) === stack),
    );
    const encoded = capturing(transformer, encoder, capture, () =>
      transformer.encode(source, mask),
    );
    const drawing = interventions.find((one) => one.verb === "draw");
    const how = { drawing, onToken };
    const { chosen, logits } = this.decoded(encoded.result, mask, read, imposed, how);
    const queries = fedIn(chosen);
    const whole = capturing(transformer, decoder, capture, () =>
      transformer.decode(queries, encoded.result, mask),
    );
    const arrays: CapturedArrays = { ...encoded.arrays, ...whole.arrays };
    const unmasked = interventions.some((one) => one.verb === "omit" && one.part === "mask");
    Object.assign(arrays, maskCodes(transformer.config, source, queries, unmasked));
    const padding = source.map((token) => token === PAD);
    editMaskCodes(transformer.config, interventions, arrays, padding);
    if (capture === "full") {
      const shape = [queries.length, transformer.config.target_vocabulary];
      arrays.logits = { values: whole.result, shape };
    }
    return { chosen, logits, arrays, captured: whole.result };
  }

  /**
   * What only the model can measure of a trace that it made as a whole, by passes without capture:
   * the largest differences of logits between the pass that captured and one that did not, between
   * that and decoding step by step and, where the source is padded, without its padding.
   * @returns by check
   */
  measured(trace: ModelTrace): Record<string, number> {
    const lines = linesIn(trace.facts);
    const run = () => this.measuredNow(trace);
    return intervening(this.checkpoint.transformer, interventionsOf(lines), run);
  }

  /** As `measured`, with the interventions that are in force. */
  measuredNow({ source, chosen, stepwise, captured }: ModelTrace): Record<string, number> {
    const { transformer } = this.checkpoint;
    const queries = fedIn(chosen);
    const plain = transformer.forward(source, queries);
    const bare = source.filter((token) => token !== PAD);
    const padded = bare.length < source.length;
    return {
      hooked_equals_plain: largestDifference(captured, plain),
      cached_equals_full: largestDifference(stepwise, plain),
      ...(padded && {
        padding_changes_nothing: largestDifference(plain, transformer.forward(bare, queries)),
      }),
    };
  }

  /** What a trace says of the model and of its request. */
  described(
    text: string,
    forced: Forced,
    { padTo, target, interventions = [] }: Request,
    { chosen, prompt }: Record<"chosen" | "prompt", number[]>, // ids
  ): TraceFacts {
    const { facts, transformer } = this.checkpoint;
    const kept = KEPT.filter((name) => name in facts).map((name) => [name, facts[name]]);
    return {
      model: this.name,
      ...Object.fromEntries(kept),
      config: transformer.config,
      text: validText(text),
      forced,
      pad_to: padTo ?? null,
      given: target !== undefined,
      ...(prompt.length ? { prompt: prompt.length + 1 } : {}), // with its beginning
      ...(interventions.length && {
        interventions: changed(interventions, NO_CHANGE),
        means: null,
      }),
      ended: chosen[chosen.length - 1] === EOS,
    };
  }

  /**
   * The ids decoded from `memory` (S, D) and the logits (T, V) that each was chosen from.
   * @param mask of the memory
   */
  decoded(
    memory: Float32Array,
    mask: Mask,
    { prompt }: Read,
    imposed: Forced,
    { drawing, onToken }: Pick<Request, "onToken"> & { drawing?: Drawing },
  ) {
    const { transformer } = this.checkpoint;
    const { max_length, target_vocabulary } = transformer.config;
    const latest = Math.max(0, ...Object.keys(imposed).map(Number));
    const most = prompt.length ? Math.max(prompt.length + AFTER_PROMPT, latest) : max_length;
    const limit = Math.min(most, max_length);
    const steps: { logits: Float32Array; token: number }[] = [];
    const how = { limit, forced: imposed, drawing };
    for (const step of decodingSteps(transformer, memory, mask, how)) {
      steps.push(step);
      onToken?.(steps.slice(prompt.length).map(({ token }) => token));
    }
    if (latest > steps.length) {
      throw new ModelError("no_such_step", { step: latest, last: steps.length });
    }
    const logits = new Float32Array(steps.length * target_vocabulary);
    steps.forEach((step, row) => {
      logits.set(step.logits, row * target_vocabulary);
    });
    return { chosen: steps.map(({ token }) => token), logits };
  }

  /** What the model reads of `text`. */
  read(text: string, padTo: number | undefined): Read {
    const { sourceVocabulary, transformer } = this.checkpoint;
    const ids = sourceVocabulary.encode(text);
    const alone = isDecoderOnly(transformer.config);
    const length = ids.length + 1; // with the end of a source, or the beginning of a prompt
    const limit = transformer.config.max_length;
    this.refuseLong(alone ? "long_prompt" : "long_source", length);
    const most = alone ? length : limit;
    const padded = padTo ?? length;
    if (!Number.isInteger(padded) || padded < length || padded > most) {
      const facts = { pad_to: padded, length, limit };
      throw alone ? new ModelError("no_padding", facts) : new ModelError("bad_padding", facts);
    }
    if (alone) return { source: [], prompt: ids };
    return { source: [...ids, EOS, ...Array(padded - length).fill(PAD)], prompt: [] };
  }

  /** @param prompt how many tokens come before the first that can be forced */
  forced({ target, prefix, force = {} }: Request, prompt: number): Forced {
    const ways = [target !== undefined, prefix !== undefined, Object.keys(force).length > 0];
    if (ways.filter(Boolean).length > 1) throw new ModelError("two_ways_to_force");
    const text = target ?? prefix;
    if (text === undefined) return this.checked(force, prompt);
    const ids = this.checkpoint.targetVocabulary.encode(text);
    if (target !== undefined) ids.push(EOS);
    this.refuseLong("long_target", ids.length, prompt);
    return Object.fromEntries(numbered(ids, prompt + 1));
  }

  checked(force: Forced, prompt: number) {
    const last = this.checkpoint.targetVocabulary.size - 1;
    for (const [step, token] of Object.entries(force)) {
      if (!Number.isInteger(token) || token < EOS || token > last) {
        throw new ModelError("no_candidate", { token, last });
      }
      if (!/^[1-9]\d*$/.test(step)) throw new ModelError("no_such_step", { step, last: 1 });
      if (Number(step) <= prompt) throw new ModelError("fixed_step", { step, first: prompt + 1 });
    }
    return force;
  }

  /** @param taken positions that other tokens have */
  refuseLong(key: string, got: number, taken = 0) {
    const limit = this.checkpoint.transformer.config.max_length - taken;
    if (got > limit) throw new ModelError(key, { got, limit });
  }
}

/** The ids with the steps, from `first` on, at which they are chosen. */
function numbered(ids: readonly number[], first: number): [number, number][] {
  return ids.map((id, index) => [first + index, id]);
}

/** The ids that are fed in: the beginning, then what was chosen, without the last. */
export function fedIn(chosen: number[]) {
  return [BOS, ...chosen.slice(0, -1)];
}

function largestDifference(one: Float32Array, other: Float32Array) {
  let most = 0;
  for (let index = 0; index < one.length; index++) {
    most = Math.max(most, Math.abs(one[index] - other[index]));
  }
  return most;
}
