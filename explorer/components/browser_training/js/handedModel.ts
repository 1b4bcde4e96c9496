/**
 * A model that was trained in one page of the static site, on its way to the first page, which runs
 * in a tab of its own.
 *
 * Pages from disk share no storage in every browser, but a page can send messages to one that it
 * opened, and be answered.
 */

import { ofTab, store, stored } from "../../page/js/browserStorage.ts";
import type { SiteName } from "../../trace/js/trace.ts";

export interface HandedModel {
  name: string;
  file: Uint8Array<ArrayBuffer>; // its checkpoint
  sha256: string; // of the file
  symbols: string[];
  longest: number; // symbols of the longest sequence of its training
  opening: { site: SiteName; layer: number; head: number } | null; // the head to open with
}

const HANDED = "handed"; // in the address, and for a reload in the storage of the tab
const ASKS = "attention-explorer asks for a model";
const HANDS = "attention-explorer hands a model";
const PATIENCE = 3000; // ms

/**
 * Open the first page, and hand it the model whenever it asks.
 * @param parameters of its address
 * @returns false where the browser opened no tab
 */
export function handModel(model: HandedModel, parameters: Record<string, string>): boolean {
  const query = new URLSearchParams({ [HANDED]: "1", model: model.name, ...parameters });
  const tab = window.open(`index.html#${query}`);
  if (!tab) return false;
  window.addEventListener("message", ({ source, data }) => {
    if (source === tab && data === ASKS) tab.postMessage({ [HANDS]: model }, "*");
  });
  return true;
}

/** Whether the address asks for a model that the page which opened this one has. */
export function isHanded() {
  return new URLSearchParams(location.hash.slice(1)).has(HANDED) || stored(HANDED, ofTab) !== null;
}

/** The model of the page that opened this one; null where that is gone. */
export function askForModel(): Promise<HandedModel | null> {
  store(HANDED, "1", ofTab);
  const opener = window.opener as Window | null;
  return new Promise((resolve) => {
    if (!opener) return resolve(null);
    window.addEventListener("message", ({ source, data }) => {
      if (source === opener && data?.[HANDS]) resolve(data[HANDS] as HandedModel);
    });
    opener.postMessage(ASKS, "*");
    setTimeout(() => resolve(null), PATIENCE);
  });
}
