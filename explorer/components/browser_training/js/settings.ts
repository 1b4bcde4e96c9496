/** The settings of a training in the browser, named as in `explorer/training/config.py`. */

import type { ModelConfig } from "../../browser_model/js/modelConfig.ts";
import { SPECIALS } from "../../trace/js/look.ts";
import { isContinued } from "./toyTasks.ts";

/** What a person chooses. */
export interface Choice {
  task: string; // of `TASKS`, `toyTasks.ts`
  causal: boolean; // false leaks: each target position sees the token it must predict
  seed: number;
}

export interface Settings extends Choice {
  symbols: string[];
  longest: number; // symbols in the longest sequence
  small_alphabets: number; // share of the sequences with few different symbols
  d_model: number;
  heads: number;
  encoder_layers: number; // 0: a decoder alone
  decoder_layers: number;
  d_ff: number;
  steps: number;
  batch: number; // sequences a step
  rate: number; // the peak of the schedule
  warmup: number; // steps
  beta1: number;
  beta2: number;
  clip: number; // largest norm of the gradient
  until: number; // exact match at which training stops early
  evaluate_every: number; // steps
}

/**
 * Settings for a phone: half the width of the app's quick demo, and shorter sequences. The number of
 * symbols with the specials, and of the longest sequence with its end, are multiples of 4: vectors
 * of WebAssembly have four numbers, and other sizes take a quarter longer.
 */
export function settingsOf(choice: Choice): Settings {
  const continued = isContinued(choice.task);
  return {
    ...choice,
    symbols: [..."123456789"],
    longest: continued ? 15 : 7,
    small_alphabets: 0.75,
    d_model: 32,
    heads: 2,
    encoder_layers: continued ? 0 : 2,
    decoder_layers: 2,
    d_ff: 128,
    steps: 400,
    batch: 64,
    rate: 5e-3,
    warmup: 50,
    beta1: 0.9,
    beta2: 0.98,
    clip: 1,
    until: 0.99,
    evaluate_every: 25,
  };
}

/** The sizes of the model; `max_length` is as in Python, so that longer sequences can be tried. */
export function modelConfigOf(settings: Settings): ModelConfig {
  const entries = SPECIALS.length + settings.symbols.length;
  return {
    source_vocabulary: entries,
    target_vocabulary: entries,
    d_model: settings.d_model,
    heads: settings.heads,
    encoder_layers: settings.encoder_layers,
    decoder_layers: settings.decoder_layers,
    d_ff: settings.d_ff,
    dropout: 0,
    norm: "pre",
    max_length: 2 * settings.longest + 2,
    tied_embeddings: false,
    causal: settings.causal,
  };
}

/** The rate of step 0, 1, …: a linear warm-up and half a cosine to 0, as in `schedule.py`. */
export function learningRate({ rate, warmup, steps }: Settings, step: number) {
  const decay = 0.5 * (1 + Math.cos((Math.PI * step) / steps));
  return rate * Math.min(1, (step + 1) / warmup) * decay;
}
