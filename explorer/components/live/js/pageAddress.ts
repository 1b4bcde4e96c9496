/** The address of what is on screen, in the browser's history and, for other pages of the site, kept. */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import { LAST_SHOWN } from "../../trace/js/look.ts";

/** Where a page has its address; its parameters are read and written by `address.ts`. */
export interface PageAddress {
  read: () => string; // the parameters; "" = none
  /** Write the parameters. `replace`: whether Back skips what the address says now. */
  put: (parameters: string, replace: boolean) => void;
  onChange: (listener: () => void) => void; // told when the person goes to another one, as by Back
}

const LAST = "attention-last"; // address, in the storage of the tab

/** The address of a page of its own: the parameters are the fragment. */
export function fragmentAddress(): PageAddress {
  followLast();
  return {
    read: () => location.hash.slice(1),
    put: (parameters, replace) => {
      const fragment = `#${parameters}`;
      store(LAST, fragment, ofTab);
      try {
        if (replace) history.replaceState(null, "", fragment);
        else history.pushState(null, "", fragment);
      } catch {
        // a browser refuses more than so many addresses a minute; the next one is written again
      }
    },
    onChange: (listener) => window.addEventListener("hashchange", listener),
  };
}

/** Who comes back from another page of the static site finds what was on screen before. */
function followLast() {
  const query = new URLSearchParams(location.hash.slice(1));
  if (!query.has(LAST_SHOWN)) return;
  query.delete(LAST_SHOWN);
  history.replaceState(null, "", stored(LAST, ofTab) ?? `#${query}`);
}
