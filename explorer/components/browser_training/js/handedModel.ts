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
  window.addEventListener("message", (event) => {
    if (isOf(tab, event) && event.data === ASKS) tab.postMessage({ [HANDS]: model }, target());
  });
  return true;
}

/** Whether the address asks for a model that the page which opened this one has. */
export function isHanded() {
  return new URLSearchParams(location.hash.slice(1)).has(HANDED) || stored(HANDED, ofTab) !== null;
}

/** The model of the page that opened this one; null where that is gone, or hands something else. */
export function askForModel(): Promise<HandedModel | null> {
  store(HANDED, "1", ofTab);
  const opener = window.opener as Window | null;
  return new Promise((resolve) => {
    if (!opener) return resolve(null);
    window.addEventListener("message", (event) => {
      if (!isOf(opener, event) || !event.data?.[HANDS]) return;
      const handed: unknown = event.data[HANDS];
      resolve(isModel(handed) ? handed : null);
    });
    opener.postMessage(ASKS, target());
    setTimeout(() => resolve(null), PATIENCE);
  });
}

/** Whether a message is of this page, with the origin of this one; from disk both are "null". */
function isOf(page: Window, { source, origin }: MessageEvent) {
  return source === page && origin === window.origin;
}

/** Who may read a message; from disk a browser knows no origin to name. */
function target() {
  return window.origin === "null" ? "*" : window.origin;
}

/** Whether what was handed over is a model of this version of the site. */
function isModel(handed: unknown): handed is HandedModel {
  if (typeof handed !== "object" || handed === null) return false;
  const { name, file, sha256, symbols, longest, opening } = handed as Record<string, unknown>;
  const isNamed = [name, sha256].every((one) => typeof one === "string");
  const hasSymbols = Array.isArray(symbols) && symbols.every((one) => typeof one === "string");
  const hasLength = Number.isInteger(longest) && Number(longest) > 0;
  return isNamed && file instanceof Uint8Array && hasSymbols && hasLength && isHead(opening);
}

function isHead(opening: unknown) {
  if (opening === null) return true;
  if (typeof opening !== "object") return false;
  const { site, layer, head } = opening as Record<string, unknown>;
  const isSite = (["encoder", "decoder", "cross"] as unknown[]).includes(site);
  return isSite && [layer, head].every((one) => Number.isInteger(one) && Number(one) >= 0);
}
