/**
 * @typedef {object} PageLanguage
 * @property {string} name what the language calls itself
 * @property {string} tag for the `lang` attribute
 */

/**
 * The language of the page for a tag such as "fr-CA", as browsers name languages; as
 * `nearest_language` in `explorer/core/i18n.py`.
 * @param {string} tag
 * @param {string[]} languages
 */
export function nearestLanguage(tag, languages) {
  const wanted = tag.toLowerCase();
  const same = languages.find((code) => code.toLowerCase() === wanted);
  return same ?? languages.find((code) => firstSubtag(code) === firstSubtag(wanted));
}

/** @param {string} tag */
function firstSubtag(tag) {
  return tag.split("-")[0];
}
