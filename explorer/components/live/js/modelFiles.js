/**
 * The bytes of a model's file: inside the page, beside it on disk, or on the host that served it.
 *
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {number} bytes
 * @property {number} scriptBytes of the script that has it as a text
 * @property {string} sha256
 */

import { ModelError } from "../../browser_model/js/modelError.js";
import { decodeText, textInScript } from "./modelText.js";

const CACHE = "attention-explorer-models";
const DAMAGED = "damaged_checkpoint"; // the sentence about a file that fails its SHA-256

/** A computation takes float32 for float16, and the file itself while it is read. */
const MEMORY = 4; // times the bytes of the file
const SHARE = 1 / 8; // of the device's memory that a page may fill

/**
 * Why a device cannot hold a model; null where nothing says so.
 * @param {ModelFile} file
 */
export function tooLarge({ name, bytes }) {
  const { deviceMemory } = /** @type {Navigator & {deviceMemory?: number}} */ (navigator);
  const needed = Math.ceil((MEMORY * bytes) / 2 ** 20);
  const limit = Math.floor((deviceMemory ?? Infinity) * 1024 * SHARE);
  return needed > limit ? new ModelError("model_too_large", { name, needed, limit }) : null;
}

/**
 * Hand the bytes of a model's file to `open`, which rejects where they are not those of the static site.
 * Rejects with a `ModelError` where there is no such file, or one that was cut off or replaced.
 * @param {ModelFile} file
 * @param {(data: Uint8Array<ArrayBuffer>) => Promise<unknown>} open
 * @param {(share: number) => void} onProgress told of 0 to 1
 */
export async function openModel(file, open, onProgress) {
  const { name, bytes } = file;
  const decoded = (/** @type {string} */ text) => decodeText(new TextEncoder().encode(text), bytes);
  const inPage = Array.from(document.querySelectorAll("script[data-model]")).find(
    (script) => script.getAttribute("data-model") === name,
  );
  if (inPage) await open(decoded(inPage.textContent ?? ""));
  else if (location.protocol === "file:") await open(decoded(await scriptText(name)));
  else await openFetched(file, open, onProgress);
}

/**
 * The text in a model's script; from disk, browsers allow no `fetch`, but a script that calls the
 * page. Several can be under way: each call is told apart by its element.
 * @param {string} name
 * @returns {Promise<string>}
 */
function scriptText(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const receiver = /** @type {{receiveModel?: (text: string) => void}} */ (
      /** @type {unknown} */ (window)
    );
    receiver.receiveModel = (text) =>
      document.currentScript?.dispatchEvent(new CustomEvent("model", { detail: text }));
    script.addEventListener("model", (event) =>
      resolve(/** @type {CustomEvent<string>} */ (event).detail),
    );
    script.onerror = () => reject(notThere(name));
    script.onload = () => {
      script.remove();
      reject(damaged(name)); // unless it has called already; a script that was cut off does not run
    };
    script.src = scriptPath(name);
    document.head.append(script);
  });
}

/** @param {string} name */
function scriptPath(name) {
  return `models/${encodeURIComponent(name)}.js`;
}

/**
 * Open what an earlier visit has kept, else what the host sends. Only bytes that could be opened are
 * kept: a host, or a network before a login, may answer with something else.
 * @param {ModelFile} file
 * @param {(data: Uint8Array<ArrayBuffer>) => Promise<unknown>} open
 * @param {(share: number) => void} onProgress
 */
async function openFetched(file, open, onProgress) {
  const address = new URL(scriptPath(file.name), document.baseURI);
  address.search = file.sha256; // a file that was replaced has another address
  const cache = await modelCache();
  if (cache && (await openKept(cache, address, open))) return;
  const data = await fetched(address, file, onProgress);
  const copy = cache && data.slice(); // what is opened is handed to a worker
  await open(data);
  if (cache && copy) await keep(cache, address, copy);
}

/** What earlier visits have kept; null where a browser, or its settings, have no such storage. */
async function modelCache() {
  try {
    return await caches.open(CACHE);
  } catch {
    return null;
  }
}

/**
 * Whether an earlier visit has kept the file; a damaged one is deleted.
 * @param {Cache} cache
 * @param {URL} address
 * @param {(data: Uint8Array<ArrayBuffer>) => Promise<unknown>} open
 */
async function openKept(cache, address, open) {
  const data = await keptBytes(cache, address);
  if (!data) return false;
  try {
    await open(data);
    return true;
  } catch (error) {
    if (!(error instanceof ModelError) || error.key !== DAMAGED) throw error;
    await cache.delete(address).catch(() => false);
    return false;
  }
}

/**
 * @param {Cache} cache
 * @param {URL} address
 */
async function keptBytes(cache, address) {
  try {
    const answer = await cache.match(address);
    return answer ? new Uint8Array(await answer.arrayBuffer()) : null;
  } catch {
    return null; // it is fetched
  }
}

/**
 * The host is asked whether a file in the browser's own cache is still current: it may be the answer
 * that was damaged.
 * @param {URL} address
 * @param {ModelFile} file
 * @param {(share: number) => void} onProgress
 */
async function fetched(address, { name, bytes, scriptBytes }, onProgress) {
  const script = new Uint8Array(scriptBytes);
  let length = 0;
  try {
    const answer = await fetch(address, { cache: "no-cache" });
    if (!answer.ok || !answer.body) throw notThere(name);
    const reader = answer.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (length + part.value.length > scriptBytes) throw damaged(name);
      script.set(part.value, length);
      length += part.value.length;
      onProgress(length / scriptBytes);
    }
  } catch (error) {
    throw error instanceof ModelError ? error : new ModelError("model_not_reached", { name });
  }
  return decodeText(textInScript(script), bytes);
}

/**
 * In place of the file of an earlier version.
 * @param {Cache} cache
 * @param {URL} address
 * @param {Uint8Array<ArrayBuffer>} data
 */
async function keep(cache, address, data) {
  try {
    await cache.delete(address, { ignoreSearch: true });
    await cache.put(address, new Response(data));
  } catch {
    // no room: it is fetched again next time
  }
}

/** @param {string} name */
function damaged(name) {
  return new ModelError(DAMAGED, { name });
}

/** @param {string} name */
function notThere(name) {
  return new ModelError("model_not_there", { name });
}
