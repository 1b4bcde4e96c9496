/** What the browser keeps of a visit, where it has a storage. */

export type Place = () => Storage; // which a page may not have

const ofBrowser = () => localStorage;
export const ofTab = () => sessionStorage;

/** What is kept by this name; null without one. */
export function stored(name: string, place: Place = ofBrowser) {
  try {
    return place().getItem(name);
  } catch {
    return null;
  }
}

/** @param value null = keep it no longer */
export function store(name: string, value: string | null, place: Place = ofBrowser) {
  try {
    if (value === null) place().removeItem(name);
    else place().setItem(name, value);
  } catch {
    // it is asked again next time
  }
}
