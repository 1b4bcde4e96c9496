/** The weights of a model by the names that its checkpoint has for them. */

import type { Linear } from "./matrices.ts";
import { isDecoderOnly, type ModelConfig } from "./modelConfig.ts";
import { ModelError } from "./modelError.ts";
import { ModelMemory } from "./modelMemory.ts";
import { readFloats, type Tensor } from "./safetensors.ts";

/** Matrices with a row for each token; tied (§3.4), they are the first one. */
const OF_TOKENS = [
  "encoder.embedding.tokens.weight",
  "decoder.embedding.tokens.weight",
  "logits.weight",
];
const LOGITS_BIAS = "logits.bias"; // of a decoder alone it stays 0, and is not in its file

export class Weights {
  tied: string[];
  memory: ModelMemory;
  arrays: Map<string, Float32Array>;

  /**
   * Throws a `ModelError` unless `tensors` are exactly those of a model of these sizes.
   * @param name of the file
   */
  constructor(config: ModelConfig, tensors: Map<string, Tensor>, name: string) {
    const shapes = expectedShapes(config);
    for (const weight of [...new Set([...shapes.keys(), ...tensors.keys()])].sort()) {
      const expected = described(shapes.get(weight));
      const got = described(tensors.get(weight)?.shape);
      if (expected !== got) {
        const facts = { name, weight: weight.slice(0, 64), got, expected };
        throw new ModelError("mismatched_weights", facts);
      }
    }
    this.tied = config.tied_embeddings ? matricesOfTokens(config) : [];
    const lengths = [...shapes.values()].map((shape) => shape.reduce((one, other) => one * other));
    const { target_vocabulary } = config;
    this.memory = new ModelMemory([...lengths, target_vocabulary], widestLinear(config));
    this.arrays = new Map();
    for (const [weight, tensor] of tensors) {
      const length = tensor.shape.reduce((one, other) => one * other);
      this.arrays.set(weight, readFloats(tensor, this.memory.room(length), name));
    }
    if (!this.arrays.has(LOGITS_BIAS)) {
      this.arrays.set(LOGITS_BIAS, this.memory.room(target_vocabulary));
    }
  }

  /** The numbers of the weight called `path`. */
  matrix(path: string): Float32Array {
    const stored = this.tied.includes(path) ? this.tied[0] : path;
    const found = this.arrays.get(stored);
    if (!found) throw new Error(`There is no weight ${path}.`);
    return found;
  }

  /** Weight and bias of the linear map or LayerNorm called `path`. */
  parameters(path: string): Linear {
    const [weight, bias] = ["weight", "bias"].map((part) => this.matrix(`${path}.${part}`));
    return { weight, bias, memory: this.memory };
  }
}

/** Inputs and outputs together of the widest linear map. */
function widestLinear({ d_model: width, d_ff, target_vocabulary }: ModelConfig) {
  return width + Math.max(3 * width, d_ff, target_vocabulary);
}

function matricesOfTokens(config: ModelConfig) {
  return isDecoderOnly(config) ? OF_TOKENS.slice(1) : OF_TOKENS;
}

/** The shape of each weight that a checkpoint of these sizes has. */
function expectedShapes(config: ModelConfig) {
  const { d_model: width, norm, source_vocabulary, target_vocabulary } = config;
  const shapes: Map<string, number[]> = new Map();
  for (const name of matricesOfTokens(config).slice(0, config.tied_embeddings ? 1 : undefined)) {
    shapes.set(name, [name === OF_TOKENS[0] ? source_vocabulary : target_vocabulary, width]);
  }
  const alone = isDecoderOnly(config);
  if (!alone) shapes.set(LOGITS_BIAS, [target_vocabulary]);
  if (norm === "pre") {
    if (!alone) addNorm(shapes, "encoder.norm", width);
    addNorm(shapes, "decoder.norm", width);
  }
  for (let layer = 0; layer < config.encoder_layers; layer++) {
    addLayer(shapes, `encoder.layers.${layer}`, config);
  }
  for (let layer = 0; layer < config.decoder_layers; layer++) {
    const path = `decoder.layers.${layer}`;
    addLayer(shapes, path, config);
    if (!alone) addCrossAttention(shapes, path, width);
  }
  return shapes;
}

/** What layers of both stacks have. */
function addLayer(
  shapes: Map<string, number[]>,
  path: string,
  { d_model: width, d_ff }: ModelConfig,
) {
  addLinear(shapes, `${path}.self_attention.query_key_value`, 3 * width, width);
  addLinear(shapes, `${path}.self_attention.output`, width, width);
  addLinear(shapes, `${path}.feed_forward.expand`, d_ff, width);
  addLinear(shapes, `${path}.feed_forward.contract`, width, d_ff);
  addNorm(shapes, `${path}.around_self_attention`, width);
  addNorm(shapes, `${path}.around_feed_forward`, width);
}

function addCrossAttention(shapes: Map<string, number[]>, path: string, width: number) {
  addLinear(shapes, `${path}.cross_attention.query`, width, width);
  addLinear(shapes, `${path}.cross_attention.key_value`, 2 * width, width);
  addLinear(shapes, `${path}.cross_attention.output`, width, width);
  addNorm(shapes, `${path}.around_cross_attention`, width);
}

function addLinear(shapes: Map<string, number[]>, path: string, outputs: number, inputs: number) {
  shapes.set(`${path}.weight`, [outputs, inputs]);
  shapes.set(`${path}.bias`, [outputs]);
}

function addNorm(shapes: Map<string, number[]>, path: string, width: number) {
  shapes.set(`${path}.weight`, [width]);
  shapes.set(`${path}.bias`, [width]);
}

function described(shape: number[] | undefined) {
  return shape ? `[${shape.join(", ")}]` : "none";
}
