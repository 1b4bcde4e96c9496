/** What the browser keeps of a visit, where it has a storage. */

/** @typedef {() => Storage} Place which a page may not have */
export const ofBrowser = () => localStorage;
export const ofTab = () => sessionStorage;

/**
 * What is kept by this name; null without one.
 * @param {string} name
 * @param {Place} [place]
 */
export function stored(name, place = ofBrowser) {
  try {
    return place().getItem(name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string | null} value null = keep it no longer
 * @param {Place} [place]
 */
export function store(name, value, place = ofBrowser) {
  try {
    if (value === null) place().removeItem(name);
    else place().setItem(name, value);
  } catch {
    // it is asked again next time
  }
}
