export interface PageLanguage {
  name: string; // what the language calls itself
  tag: string; // for the `lang` attribute
}

/**
 * The language of the page for a tag such as "fr-CA", as browsers name languages; as
 * `nearest_language` in `explorer/core/i18n.py`.
 */
export function nearestLanguage(tag: string, languages: string[]) {
  const wanted = tag.toLowerCase();
  const same = languages.find((code) => code.toLowerCase() === wanted);
  return same ?? languages.find((code) => firstSubtag(code) === firstSubtag(wanted));
}

function firstSubtag(tag: string) {
  return tag.split("-")[0];
}
