/** Whether a person has used the page, now or before: touched its picture or sent a text. */

import { store, stored } from "../../page/js/browserStorage.ts";

export interface PageUse {
  begun: () => boolean;
  begin: () => void; // the page is no longer new to the person
}

const USED = "attention-used"; // in the browser's storage

/** @param place of the picture */
export function createPageUse(place: HTMLElement): PageUse {
  let begun = stored(USED) !== null;
  const begin = () => {
    if (!begun) store(USED, "1");
    begun = true;
  };
  for (const touched of ["pointerdown", "keydown"]) place.addEventListener(touched, begin);
  return { begun: () => begun, begin };
}
