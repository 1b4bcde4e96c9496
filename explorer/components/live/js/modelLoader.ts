/** Opens each model once, in a worker, and knows how much of its file is there. */

import { createModelClient, type ModelClient } from "./modelClient.ts";
import { type ModelFile, openModel, tooLarge } from "./modelFiles.ts";

export class ModelLoader {
  files: ModelFile[];
  workerSource: string;
  onProgress: () => void;
  client: ModelClient | null;
  opened: Map<string, Promise<void>>; // by name
  shares: Map<string, number>; // share of a file that is there, 0 to 1, until its model is open

  /** @param onProgress told when a file is asked for, and whenever a part of it has come */
  constructor(files: ModelFile[], workerSource: string, onProgress: () => void) {
    this.files = files;
    this.workerSource = workerSource;
    this.onProgress = onProgress;
    this.client = null;
    this.opened = new Map();
    this.shares = new Map();
  }

  /** The models, that one among them. Rejects with a `ModelError`; the next call tries anew. */
  async open(name: string): Promise<ModelClient> {
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

  async load(client: ModelClient, name: string) {
    const file = this.files.find((model) => model.name === name) ?? this.files[0];
    const problem = tooLarge(file);
    if (problem) throw problem;
    this.shares.set(name, 0);
    this.onProgress();
    const open = (data: Uint8Array<ArrayBuffer>) =>
      client.ask("open", { name, data, sha256: file.sha256 });
    await openModel(file, open, (share) => {
      this.shares.set(name, share);
      this.onProgress();
    });
  }

  /** Whether a model is open, or on its way. */
  has(name: string) {
    return this.opened.has(name);
  }

  /**
   * What of a file that is on its way is there; null of a model that is open, or not asked for.
   * @returns size in MB
   */
  progress(name: string): { percent: number; size: string } | null {
    const share = this.shares.get(name);
    const file = this.files.find((model) => model.name === name);
    if (share === undefined || !file) return null;
    return { percent: Math.floor(100 * share), size: (file.scriptBytes / 1e6).toFixed(1) };
  }
}
