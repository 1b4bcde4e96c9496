/** The weights of a model before it is trained, by the names that a checkpoint has for them. */

import { isDecoderOnly, type ModelConfig } from "../../browser_model/js/modelConfig.ts";
import type { Random } from "./random.ts";

export interface Parameter {
  shape: number[];
  data: Float32Array<ArrayBuffer>;
}

export type Parameters = Record<string, Parameter>;

/**
 * Drawn from the distributions of `explorer/model/transformer.py`: embeddings with variance 1 after
 * their scaling, a Xavier matrix for each part of a linear map, biases 0.
 */
export function initialParameters(config: ModelConfig, random: Random): Parameters {
  const { d_model: width, d_ff, source_vocabulary, target_vocabulary } = config;
  const parameters: Parameters = {};
  const add = (name: string, shape: number[], draw: () => number) => {
    const length = shape.reduce((one, other) => one * other);
    parameters[name] = { shape, data: Float32Array.from({ length }, draw) };
  };
  const embedding = (name: string, entries: number) =>
    add(`${name}.tokens.weight`, [entries, width], () => random.normal() / Math.sqrt(width));
  const matrix = (name: string, inputs: number, part: number, parts = 1) => {
    const bound = Math.sqrt(6 / (inputs + part));
    add(`${name}.weight`, [parts * part, inputs], () => (2 * random.share() - 1) * bound);
  };
  const linear = (name: string, inputs: number, part: number, parts = 1) => {
    matrix(name, inputs, part, parts);
    add(`${name}.bias`, [parts * part], () => 0);
  };
  const norm = (name: string) => {
    add(`${name}.weight`, [width], () => 1);
    add(`${name}.bias`, [width], () => 0);
  };
  const layer = (path: string) => {
    linear(`${path}.self_attention.query_key_value`, width, width, 3);
    linear(`${path}.self_attention.output`, width, width);
    linear(`${path}.feed_forward.expand`, width, d_ff);
    linear(`${path}.feed_forward.contract`, d_ff, width);
    norm(`${path}.around_self_attention`);
    norm(`${path}.around_feed_forward`);
  };
  const crossAttention = (path: string) => {
    linear(`${path}.cross_attention.query`, width, width);
    linear(`${path}.cross_attention.key_value`, width, width, 2);
    linear(`${path}.cross_attention.output`, width, width);
    norm(`${path}.around_cross_attention`);
  };
  const alone = isDecoderOnly(config);
  if (!alone) {
    embedding("encoder.embedding", source_vocabulary);
    numbered(config.encoder_layers, (number) => layer(`encoder.layers.${number}`));
    norm("encoder.norm");
  }
  embedding("decoder.embedding", target_vocabulary);
  numbered(config.decoder_layers, (number) => {
    layer(`decoder.layers.${number}`);
    if (!alone) crossAttention(`decoder.layers.${number}`);
  });
  norm("decoder.norm");
  if (alone) matrix("logits", width, target_vocabulary);
  else linear("logits", width, target_vocabulary);
  return parameters;
}

function numbered(count: number, act: (number: number) => void) {
  for (let number = 0; number < count; number++) act(number);
}
