/**
 * @typedef {Record<string, string>} Strings sentences by key
 * @typedef {Record<string, unknown>} Facts values for the placeholders of a sentence
 * @typedef {(key: string, facts?: Facts) => string} Say
 */

/**
 * The sentence under `key` with its placeholders filled in; the key itself where there is none.
 * @param {Strings} strings
 * @param {string} key
 * @param {Facts} [facts]
 */
export function fillIn(strings, key, facts = {}) {
  const sentence = strings[key] ?? key;
  return sentence.replace(/\{(\w+)\}/g, (placeholder, name) =>
    name in facts ? String(facts[name]) : placeholder,
  );
}
