/** The sizes of a Transformer, checked as `explorer/model/config.py` checks them. */

import { ModelError } from "./modelError.ts";

export interface ModelConfig {
  source_vocabulary: number; // entries, the three specials included
  target_vocabulary: number;
  d_model: number;
  heads: number;
  encoder_layers: number; // 0: a decoder alone, which has one vocabulary and no cross-attention
  decoder_layers: number;
  d_ff: number;
  dropout: number;
  norm: "pre" | "post"; // LayerNorm before or after each sublayer
  max_length: number; // tokens on either side, specials included
  tied_embeddings: boolean; // source, target and output share one matrix (§3.4)
  causal: boolean; // false lets target positions attend to the answer
  norm_eps?: number; // what LayerNorm adds to the variance, where it is not the usual 1e-5
}

/** Field, least and most. */
const SIZES: [keyof ModelConfig, number, number][] = [
  ["source_vocabulary", 4, 1_000_000],
  ["target_vocabulary", 4, 1_000_000],
  ["d_model", 1, 8192],
  ["heads", 1, 128],
  ["encoder_layers", 0, 64],
  ["decoder_layers", 1, 64],
  ["d_ff", 1, 65_536],
  ["max_length", 2, 8192],
];

/** `stored` as the config of a model. Throws a `ModelError` on sizes that do not fit together. */
export function checkedConfig(stored: Record<string, unknown>): ModelConfig {
  const config = stored as unknown as ModelConfig;
  for (const [name, least, most] of SIZES) {
    const got = config[name];
    if (!Number.isInteger(got) || Number(got) < least || Number(got) > most) {
      throw new ModelError("bad_size", { name, got: got ?? "missing", least, most });
    }
  }
  const { d_model, heads, norm, source_vocabulary, target_vocabulary } = config;
  if (d_model % heads) throw new ModelError("not_divisible", { d_model, heads });
  if (d_model % 2) throw new ModelError("odd_width", { d_model });
  if (norm !== "pre" && norm !== "post") refuseChoice("norm", norm, "pre, post");
  for (const name of ["tied_embeddings", "causal"] as const) {
    if (typeof config[name] !== "boolean") refuseChoice(name, config[name], "true, false");
  }
  const { norm_eps = 1e-5 } = config;
  if (typeof norm_eps !== "number" || !(norm_eps > 0 && norm_eps < 1)) {
    throw new ModelError("bad_number", {
      name: "norm_eps",
      got: norm_eps,
      least: 1e-12,
      most: 0.99,
    });
  }
  const oneVocabulary = config.tied_embeddings || isDecoderOnly(config);
  if (oneVocabulary && source_vocabulary !== target_vocabulary) {
    throw new ModelError("tied_sizes", { source: source_vocabulary, target: target_vocabulary });
  }
  return config;
}

/** Whether a model has no encoder: it then continues a text. */
export function isDecoderOnly(config: Pick<ModelConfig, "encoder_layers">) {
  return config.encoder_layers === 0;
}

function refuseChoice(name: string, got: unknown, choices: string): never {
  throw new ModelError("bad_choice", { name, got, choices });
}
