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
      write(fragment, replace);
    },
    onChange: (listener) => window.addEventListener("hashchange", listener),
  };
}

/**
 * The address of the app's page, which has the parameters as its query.
 * @param kept parameters of what was on screen before another page; "" for nothing
 * @param onPut told what is written
 */
export function queryAddress(
  kept: string,
  onPut: (parameters: string) => void,
  signal: AbortSignal,
): PageAddress {
  return {
    read: () => (isHere() && location.search.slice(1)) || kept,
    put: (parameters, replace) => {
      write(`?${parameters}`, replace);
      onPut(parameters);
    },
    onChange: (listener) => window.addEventListener("popstate", listener, { signal }),
  };
}

/** Whether the address is of the app's first page yet: it may still be of the page before. */
function isHere() {
  return location.pathname === new URL(".", document.baseURI).pathname;
}

function write(address: string, replace: boolean) {
  try {
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  } catch {
    // a browser refuses more than so many addresses a minute; the next one is written again
  }
}

/** Who comes back from another page of the static site finds what was on screen before. */
function followLast() {
  const query = new URLSearchParams(location.hash.slice(1));
  if (!query.has(LAST_SHOWN)) return;
  query.delete(LAST_SHOWN);
  history.replaceState(null, "", stored(LAST, ofTab) ?? `#${query}`);
}
