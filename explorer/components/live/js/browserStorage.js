/** What the browser keeps of a visit: the address, the language, whether the page is new to a person. */

export const LAST = "attention-last"; // address, of a tab
export const LANGUAGE = "attention-language";
export const USED = "attention-used";

/** @typedef {() => Storage} Place which a page may not have */
export const ofBrowser = () => localStorage;
export const ofTab = () => sessionStorage;

/** @param {string} name @param {Place} [place] */
export function stored(name, place = ofBrowser) {
  try {
    return place().getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value @param {Place} [place] */
export function store(name, value, place = ofBrowser) {
  try {
    place().setItem(name, value);
  } catch {
    // it is asked again next time
  }
}
