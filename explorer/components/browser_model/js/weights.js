/**
 * The weights of a model by the names that its checkpoint has for them.
 *
 * @import { Linear } from "./matrices.js"
 * @import { ModelConfig } from "./modelConfig.js"
 * @import { Tensor } from "./safetensors.js"
 */

import { ModelError } from "./modelError.js";
import { ModelMemory } from "./modelMemory.js";
import { readFloats } from "./safetensors.js";

/** The one matrix of tied embeddings (§3.4), and where else it is used. */
const TIED = "encoder.embedding.tokens.weight";
const TIED_TO = ["decoder.embedding.tokens.weight", "logits.weight"];

export class Weights {
  /**
   * Throws a `ModelError` unless `tensors` are exactly those of a model of these sizes.
   * @param {ModelConfig} config
   * @param {Map<string, Tensor>} tensors
   * @param {string} name of the file
   */
  constructor(config, tensors, name) {
    const shapes = expectedShapes(config);
    for (const weight of [...new Set([...shapes.keys(), ...tensors.keys()])].sort()) {
      const expected = described(shapes.get(weight));
      const got = described(tensors.get(weight)?.shape);
      if (expected !== got) {
        const facts = { name, weight: weight.slice(0, 64), got, expected };
        throw new ModelError("mismatched_weights", facts);
      }
    }
    this.tied = config.tied_embeddings;
    const lengths = [...shapes.values()].map((shape) => shape.reduce((one, other) => one * other));
    this.memory = new ModelMemory(lengths, widestLinear(config));
    /** @type {Map<string, Float32Array>} */
    this.arrays = new Map();
    for (const [weight, tensor] of tensors) {
      const length = tensor.shape.reduce((one, other) => one * other);
      this.arrays.set(weight, readFloats(tensor, this.memory.room(length), name));
    }
  }

  /**
   * The numbers of the weight called `path`.
   * @param {string} path
   * @returns {Float32Array}
   */
  matrix(path) {
    const stored = this.tied && TIED_TO.includes(path) ? TIED : path;
    const found = this.arrays.get(stored);
    if (!found) throw new Error(`There is no weight ${path}.`);
    return found;
  }

  /**
   * Weight and bias of the linear map or LayerNorm called `path`.
   * @param {string} path
   * @returns {Linear}
   */
  parameters(path) {
    const [weight, bias] = ["weight", "bias"].map((part) => this.matrix(`${path}.${part}`));
    return { weight, bias, memory: this.memory };
  }
}

/**
 * Inputs and outputs together of the widest linear map.
 * @param {ModelConfig} config
 */
function widestLinear({ d_model: width, d_ff, target_vocabulary }) {
  return width + Math.max(3 * width, d_ff, target_vocabulary);
}

/**
 * The shape of each weight that a checkpoint of these sizes has.
 * @param {ModelConfig} config
 */
function expectedShapes(config) {
  const { d_model: width, norm, source_vocabulary, target_vocabulary } = config;
  /** @type {Map<string, number[]>} */
  const shapes = new Map([[TIED, [source_vocabulary, width]]]);
  if (!config.tied_embeddings) {
    for (const name of TIED_TO) shapes.set(name, [target_vocabulary, width]);
  }
  shapes.set("logits.bias", [target_vocabulary]);
  if (norm === "pre") {
    addNorm(shapes, "encoder.norm", width);
    addNorm(shapes, "decoder.norm", width);
  }
  for (let layer = 0; layer < config.encoder_layers; layer++) {
    addLayer(shapes, `encoder.layers.${layer}`, config);
  }
  for (let layer = 0; layer < config.decoder_layers; layer++) {
    const path = `decoder.layers.${layer}`;
    addLayer(shapes, path, config);
    addLinear(shapes, `${path}.cross_attention.query`, width, width);
    addLinear(shapes, `${path}.cross_attention.key_value`, 2 * width, width);
    addLinear(shapes, `${path}.cross_attention.output`, width, width);
    addNorm(shapes, `${path}.around_cross_attention`, width);
  }
  return shapes;
}

/**
 * What layers of both stacks have.
 * @param {Map<string, number[]>} shapes
 * @param {string} path
 * @param {ModelConfig} config
 */
function addLayer(shapes, path, { d_model: width, d_ff }) {
  addLinear(shapes, `${path}.self_attention.query_key_value`, 3 * width, width);
  addLinear(shapes, `${path}.self_attention.output`, width, width);
  addLinear(shapes, `${path}.feed_forward.expand`, d_ff, width);
  addLinear(shapes, `${path}.feed_forward.contract`, width, d_ff);
  addNorm(shapes, `${path}.around_self_attention`, width);
  addNorm(shapes, `${path}.around_feed_forward`, width);
}

/**
 * @param {Map<string, number[]>} shapes
 * @param {string} path
 * @param {number} outputs
 * @param {number} inputs
 */
function addLinear(shapes, path, outputs, inputs) {
  shapes.set(`${path}.weight`, [outputs, inputs]);
  shapes.set(`${path}.bias`, [outputs]);
}

/**
 * @param {Map<string, number[]>} shapes
 * @param {string} path
 * @param {number} width
 */
function addNorm(shapes, path, width) {
  shapes.set(`${path}.weight`, [width]);
  shapes.set(`${path}.bias`, [width]);
}

/** @param {number[] | undefined} shape */
function described(shape) {
  return shape ? `[${shape.join(", ")}]` : "none";
}
