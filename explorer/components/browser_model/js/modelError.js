/** What a person can cause: `key` names the sentence in `explorer/strings/errors.toml`. */
export class ModelError extends Error {
  /**
   * @param {string} key
   * @param {Record<string, unknown>} [facts] for the placeholders of the sentence
   */
  constructor(key, facts = {}) {
    super(key);
    this.name = "ModelError";
    this.key = key;
    this.facts = facts;
  }
}
