/** The address of what is on screen, in the browser's history and, for other pages of the site, kept. */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import { LAST_SHOWN } from "../../trace/js/look.ts";

const LAST = "attention-last"; // address, in the storage of the tab

/** Who comes back from another page of the static site finds what was on screen before. */
export function followLast() {
  const query = new URLSearchParams(location.hash.slice(1));
  if (!query.has(LAST_SHOWN)) return;
  query.delete(LAST_SHOWN);
  history.replaceState(null, "", stored(LAST, ofTab) ?? `#${query}`);
}

/**
 * @param fragment of the address
 * @param replace whether Back skips what the address says now
 */
export function putAddress(fragment: string, replace: boolean) {
  store(LAST, fragment, ofTab);
  try {
    if (replace) history.replaceState(null, "", fragment);
    else history.pushState(null, "", fragment);
  } catch {
    // a browser refuses more than so many addresses a minute; the next one is written again
  }
}
