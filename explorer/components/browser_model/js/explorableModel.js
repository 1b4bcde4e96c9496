/**
 * Text in, attention out: what `explorer/model/explorable.py` does in Python. A trace is plain data
 * with typed arrays, which a worker can post to its page.
 *
 * @import { Checkpoint } from "./checkpoint.js"
 * @import { Capture, CapturedArrays } from "./attentionCapture.js"
 * @import { Forced } from "./decoding.js"
 * @import { Mask } from "./masks.js"
 * @import { ModelConfig } from "./modelConfig.js"
 * @import { Omission } from "./omissions.js"
 * @typedef {object} Request
 * @property {string} [target] the whole output, for teacher forcing
 * @property {string} [prefix] the beginning of the output; the rest is decoded
 * @property {Forced} [force] the other steps are decoded
 * @property {number} [padTo] tokens to which the source is padded
 * @property {Capture} [capture]
 * @property {Omission} [without] part of the model to leave out
 * @property {(chosen: number[]) => void} [onToken] told of each decoded token: all ids up to it
 * @typedef {import("./candidates.js").Candidate & {token: string}} LabelledCandidate
 * @typedef {Record<string, unknown> & {config: ModelConfig}} TraceFacts
 * @typedef {object} ModelTrace
 * @property {string[]} sourceTokens labels of the keys, with end and padding
 * @property {string[]} targetTokens labels of what is fed in at each step
 * @property {string[]} predictedTokens labels of what was chosen at each step
 * @property {string} text the output
 * @property {number[]} chosen ids of the chosen tokens
 * @property {Float32Array} logits (T, V) that each token was chosen from
 * @property {LabelledCandidate[]} candidates of all steps
 * @property {CapturedArrays} arrays of the pass that captures; in full its logits, too; "gold" (T, S)
 *   where the gold alignment is known
 * @property {number[]} source ids, with end and padding
 * @property {Float32Array} captured logits (T, V) of the pass that captures
 * @property {TraceFacts} facts where the trace comes from, as in Python
 * @property {number} digest of what the trace shows, when it was captured
 */

import { capturing, maskCodes } from "./attentionCapture.js";
import { stepCandidates } from "./candidates.js";
import { readCheckpoint } from "./checkpoint.js";
import { greedySteps } from "./decoding.js";
import { goldAlignment } from "./goldAlignment.js";
import { digestOf } from "./integrity.js";
import { paddingMask } from "./masks.js";
import { ModelError } from "./modelError.js";
import { omitting } from "./omissions.js";
import { validText } from "./pieceVocabulary.js";
import { BOS, EOS, PAD } from "./vocabulary.js";

/** The facts of a checkpoint that a trace repeats. */
const KEPT = ["task", "longest", "steps", "exact_match", "bleu"];

export class ExplorableModel {
  /**
   * @param {Checkpoint} checkpoint
   * @param {string} name
   */
  constructor(checkpoint, name) {
    this.checkpoint = checkpoint;
    this.name = name;
  }

  /**
   * The model in the bytes of a checkpoint file called `name`. Throws a `ModelError`.
   * @param {Uint8Array} data
   * @param {string} name
   */
  static read(data, name) {
    return new ExplorableModel(readCheckpoint(data, name), name.replace(/\.safetensors$/, ""));
  }

  /**
   * Decode `text` greedily, then capture the attention in one pass over the result. Throws a
   * `ModelError` on a text, token or step that does not exist or is too long.
   * @param {string} text
   * @param {Request} [request]
   * @returns {ModelTrace}
   */
  trace(text, request = {}) {
    const { transformer, sourceVocabulary, targetVocabulary } = this.checkpoint;
    const { padTo, without } = request;
    const source = this.source(text, padTo);
    const forced = this.forced(request);
    const run = () => this.captured(source, forced, request);
    const pass = without ? omitting(transformer, without, run) : run();
    const { chosen, logits, arrays } = pass;
    const gold = goldAlignment(this.checkpoint.facts.task, source, chosen.length);
    if (gold) arrays.gold = { values: gold, shape: [chosen.length, source.length] };
    const steps = new Set(Object.keys(forced).map(Number));
    const candidates = stepCandidates(logits, chosen, steps);
    const labels = targetVocabulary.labels(candidates.map(({ id }) => id));
    const trace = {
      sourceTokens: sourceVocabulary.labels(source),
      targetTokens: targetVocabulary.labels(queriesOf(chosen)),
      predictedTokens: targetVocabulary.labels(chosen),
      text: targetVocabulary.decode(chosen),
      chosen,
      logits,
      candidates: candidates.map((candidate, index) => ({ ...candidate, token: labels[index] })),
      arrays,
      source,
      captured: pass.captured,
      facts: this.described(text, forced, request, chosen),
    };
    return { ...trace, digest: digestOf(trace) };
  }

  /**
   * Decode `source`, then capture the attention of the result in one pass.
   * @param {number[]} source
   * @param {Forced} forced
   * @param {Request} request
   */
  captured(source, forced, { capture = "pattern", without, onToken }) {
    const { transformer } = this.checkpoint;
    const mask = paddingMask(source);
    const encoded = capturing(transformer, ["encoder"], capture, () =>
      transformer.encode(source, mask),
    );
    const { chosen, logits } = this.decoded(encoded.result, mask, forced, onToken);
    const queries = queriesOf(chosen);
    const whole = capturing(transformer, ["decoder", "cross"], capture, () =>
      transformer.decode(queries, encoded.result, mask),
    );
    /** @type {CapturedArrays} */
    const arrays = { ...encoded.arrays, ...whole.arrays };
    Object.assign(
      arrays,
      maskCodes(source, queries, transformer.config.causal, without === "mask"),
    );
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
   * @param {ModelTrace} trace
   * @returns {Record<string, number>} by check
   */
  measured({ source, chosen, logits, captured }) {
    const { transformer } = this.checkpoint;
    const queries = queriesOf(chosen);
    const plain = transformer.forward(source, queries);
    const bare = source.filter((token) => token !== PAD);
    const padded = bare.length < source.length;
    return {
      hooked_equals_plain: largestDifference(captured, plain),
      cached_equals_full: largestDifference(logits, plain),
      ...(padded && {
        padding_changes_nothing: largestDifference(plain, transformer.forward(bare, queries)),
      }),
    };
  }

  /**
   * What a trace says of the model and of its request.
   * @param {string} text
   * @param {Forced} forced
   * @param {Request} request
   * @param {number[]} chosen
   * @returns {TraceFacts}
   */
  described(text, forced, { padTo, target, without }, chosen) {
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
      ...(without ? { without: [without] } : {}),
      ended: chosen[chosen.length - 1] === EOS,
    };
  }

  /**
   * The ids decoded from `memory` (S, D) and the logits (T, V) that each was chosen from.
   * @param {Float32Array} memory
   * @param {Mask} mask of the memory
   * @param {Forced} forced
   * @param {Request["onToken"]} onToken
   */
  decoded(memory, mask, forced, onToken) {
    const { transformer } = this.checkpoint;
    const { max_length, target_vocabulary } = transformer.config;
    /** @type {{logits: Float32Array, token: number}[]} */
    const steps = [];
    for (const step of greedySteps(transformer, memory, mask, max_length, forced)) {
      steps.push(step);
      onToken?.(steps.map(({ token }) => token));
    }
    const latest = Math.max(0, ...Object.keys(forced).map(Number));
    if (latest > steps.length) {
      throw new ModelError("no_such_step", { step: latest, last: steps.length });
    }
    const logits = new Float32Array(steps.length * target_vocabulary);
    steps.forEach((step, row) => {
      logits.set(step.logits, row * target_vocabulary);
    });
    return { chosen: steps.map(({ token }) => token), logits };
  }

  /**
   * Ids of `text` with end and padding.
   * @param {string} text
   * @param {number | undefined} padTo
   */
  source(text, padTo) {
    const ids = [...this.checkpoint.sourceVocabulary.encode(text), EOS];
    const limit = this.checkpoint.transformer.config.max_length;
    this.refuseLong("long_source", ids.length);
    if (padTo === undefined) return ids;
    if (!Number.isInteger(padTo) || padTo < ids.length || padTo > limit) {
      throw new ModelError("bad_padding", { pad_to: padTo, length: ids.length, limit });
    }
    return [...ids, ...Array(padTo - ids.length).fill(PAD)];
  }

  /**
   * @param {Request} request
   * @returns {Forced}
   */
  forced({ target, prefix, force = {} }) {
    const ways = [target !== undefined, prefix !== undefined, Object.keys(force).length > 0];
    if (ways.filter(Boolean).length > 1) throw new ModelError("two_ways_to_force");
    const text = target ?? prefix;
    if (text === undefined) return this.checked(force);
    const ids = this.checkpoint.targetVocabulary.encode(text);
    if (target !== undefined) ids.push(EOS);
    this.refuseLong("long_target", ids.length);
    return Object.fromEntries(ids.map((id, index) => [index + 1, id]));
  }

  /** @param {Forced} force */
  checked(force) {
    const last = this.checkpoint.targetVocabulary.size - 1;
    for (const [step, token] of Object.entries(force)) {
      if (!Number.isInteger(token) || token < EOS || token > last) {
        throw new ModelError("no_candidate", { token, last });
      }
      if (!/^[1-9]\d*$/.test(step)) throw new ModelError("no_such_step", { step, last: 1 });
    }
    return force;
  }

  /**
   * @param {string} key
   * @param {number} got
   */
  refuseLong(key, got) {
    const limit = this.checkpoint.transformer.config.max_length;
    if (got > limit) throw new ModelError(key, { got, limit });
  }
}

/**
 * The ids that are fed in: the beginning, then what was chosen, without the last.
 * @param {number[]} chosen
 */
function queriesOf(chosen) {
  return [BOS, ...chosen.slice(0, -1)];
}

/**
 * @param {Float32Array} one
 * @param {Float32Array} other
 */
function largestDifference(one, other) {
  let most = 0;
  for (let index = 0; index < one.length; index++) {
    most = Math.max(most, Math.abs(one[index] - other[index]));
  }
  return most;
}
