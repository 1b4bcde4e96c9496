/** The address of what is on screen, in the browser's history and, for other pages of the site, kept. */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import { onPage } from "../../page/js/onPage.ts";
import { LAST_SHOWN } from "../../trace/js/look.ts";

/** Where a page has its address; its parameters are read and written by `address.ts`. */
export interface PageAddress {
  read: () => string; // the parameters; "" = none
  /** Write the parameters. `replace`: whether Back skips what the address says now. */
  put: (parameters: string, replace: boolean) => void;
  onChange: (listener: () => void) => void; // told when the person goes to another one, as by Back
}

const LAST = "attention-last"; // address, in the storage of the tab
const LESSON = ["lesson", "card"]; // parameters of the app's address

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

/** What the app asks its Explore to show. */
export interface AppVisit {
  visit: string; // parameters
  lesson: string; // parameters of the card to open with; "" = no lesson
}

/** What is written into the address of the app's page. */
export interface Written {
  parameters: string;
  back: boolean; // whether the person went there by Back or Forward
}

/**
 * The address of the app's page, which has the parameters as its query.
 * @param asked is read whenever the address is
 * @param onPut told what is written
 */
export function queryAddress(
  asked: Readonly<AppVisit>,
  onPut: (written: Written) => void,
  signal: AbortSignal,
): PageAddress {
  let back = false;
  window.addEventListener(
    "popstate",
    () => {
      back = true;
    },
    { signal },
  );
  return {
    read: () => (namesVisit(inLocation()) ? inLocation() : asked.visit),
    put: (visit, replace) => {
      const card = onPage.lesson?.parameters() ?? asked.lesson;
      const lesson = back ? lessonIn(inLocation()) : card;
      const parameters = lesson ? `${visit}&${lesson}` : visit;
      const left = lesson === "" && lessonIn(inLocation()) !== ""; // its last card stays behind
      write(`?${parameters}`, replace && !left);
      onPut({ parameters, back });
      back = false;
    },
    onChange: (listener) => window.addEventListener("popstate", listener, { signal }),
  };
}

/** The parameters in the location; none while it is still of the page before. */
function inLocation() {
  const { pathname } = new URL(".", document.baseURI);
  return location.pathname === pathname ? location.search.slice(1) : "";
}

/** Whether the parameters say what to show; those of a lesson may leave it to the card. */
function namesVisit(parameters: string) {
  return (
    parameters !== "" && (!lessonIn(parameters) || new URLSearchParams(parameters).has("model"))
  );
}

/** The parameters that name the card of a lesson; "" without a lesson. */
export function lessonIn(parameters: string) {
  const named = [...new URLSearchParams(parameters)].filter(([name]) => LESSON.includes(name));
  return `${new URLSearchParams(named)}`;
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
