/**
 * Opens each model once, in a worker, and knows how much of its file is there.
 *
 * @import { ModelClient } from "./modelClient.js"
 * @import { ModelFile } from "./modelFiles.js"
 */

import { createModelClient } from "./modelClient.js";
import { openModel, tooLarge } from "./modelFiles.js";

export class ModelLoader {
  /**
   * @param {ModelFile[]} files
   * @param {string} workerSource
   * @param {() => void} onProgress told whenever a part of a file has come
   */
  constructor(files, workerSource, onProgress) {
    this.files = files;
    this.workerSource = workerSource;
    this.onProgress = onProgress;
    /** @type {ModelClient | null} */
    this.client = null;
    /** @type {Map<string, Promise<void>>} by name */
    this.opened = new Map();
    /** @type {Map<string, number>} share of a file that is there, 0 to 1, until its model is open */
    this.shares = new Map();
  }

  /**
   * The models, that one among them. Rejects with a `ModelError`; the next call tries anew.
   * @param {string} name
   * @returns {Promise<ModelClient>}
   */
  async open(name) {
    this.client ??= createModelClient(this.workerSource);
    const known = this.opened.get(name) ?? this.load(this.client, name);
    this.opened.set(name, known);
    try {
      await known;
    } catch (error) {
      this.opened.delete(name);
      throw error;
    } finally {
      this.shares.delete(name);
    }
    return this.client;
  }

  /**
   * @param {ModelClient} client
   * @param {string} name
   */
  async load(client, name) {
    const file = this.files.find((model) => model.name === name) ?? this.files[0];
    const problem = tooLarge(file);
    if (problem) throw problem;
    this.shares.set(name, 0);
    const open = (/** @type {Uint8Array<ArrayBuffer>} */ data) =>
      client.ask("open", { name, data, sha256: file.sha256 });
    await openModel(file, open, (share) => {
      this.shares.set(name, share);
      this.onProgress();
    });
  }

  /**
   * What of a file that is on its way is there; null of a model that is open, or not asked for.
   * @param {string} name
   * @returns {{percent: number, size: string} | null} size in MB
   */
  progress(name) {
    const share = this.shares.get(name);
    const file = this.files.find((model) => model.name === name);
    if (share === undefined || !file) return null;
    return { percent: Math.floor(100 * share), size: (file.scriptBytes / 1e6).toFixed(1) };
  }
}
