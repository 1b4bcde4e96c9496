/** What a person can cause: `key` names the sentence in `explorer/strings/errors.toml`. */
export class ModelError extends Error {
  key: string;
  facts: Record<string, unknown>;

  /** @param facts for the placeholders of the sentence */
  constructor(key: string, facts: Record<string, unknown> = {}) {
    super(key);
    this.name = "ModelError";
    this.key = key;
    this.facts = facts;
  }
}
