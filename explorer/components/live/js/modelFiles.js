/**
 * The bytes of a model's file: inside the page, beside it on disk, or on the host that served it.
 *
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {number} bytes
 * @property {string} sha256
 */

import { ModelError } from "../../browser_model/js/modelError.js";

const CACHE = "attention-explorer-models";

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
 * Rejects with a `ModelError` where there is no such file, or one that was cut off or replaced.
 * @param {ModelFile} file
 * @param {(share: number) => void} onProgress told of 0 to 1
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function modelBytes(file, onProgress) {
  const inPage = document.querySelector(`script[data-model="${CSS.escape(file.name)}"]`);
  if (inPage) return fromBase64(inPage.textContent ?? "");
  try {
    return await (location.protocol === "file:" ? fromScript(file) : fetched(file, onProgress));
  } catch (error) {
    if (error instanceof ModelError) throw error;
    throw new ModelError("model_not_there", { name: file.name });
  }
}

/**
 * From disk, browsers allow no `fetch`; a script that calls the page is allowed.
 * @param {ModelFile} file
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
function fromScript({ name }) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const receiver = /** @type {{receiveModel?: (text: string) => void}} */ (
      /** @type {unknown} */ (window)
    );
    receiver.receiveModel = (text) => resolve(fromBase64(text));
    script.onerror = reject;
    script.onload = () => {
      script.remove();
      reject(damaged(name)); // unless it has called already; a script that was cut off does not run
    };
    script.src = `models/${encodeURIComponent(name)}.js`;
    document.head.append(script);
  });
}

/** @param {string} name */
function damaged(name) {
  return new ModelError("damaged_checkpoint", { name });
}

/**
 * @param {ModelFile} file
 * @param {(share: number) => void} onProgress
 */
async function fetched({ name, bytes, sha256 }, onProgress) {
  const address = new URL(`models/${encodeURIComponent(name)}.safetensors`, document.baseURI);
  address.search = sha256; // a file that was replaced has another address
  const kept = await keptAnswer(address);
  const answer = kept ?? (await fetch(address));
  if (!answer.ok || !answer.body) throw new Error(String(answer.status));
  const data = new Uint8Array(bytes);
  const reader = answer.body.getReader();
  let length = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (length + part.value.length > bytes) throw damaged(name);
    data.set(part.value, length);
    length += part.value.length;
    onProgress(length / bytes);
  }
  if (!kept) await keep(address, data.slice(0, length));
  return data.subarray(0, length);
}

/**
 * What an earlier visit has kept, so that a page works offline.
 * @param {URL} address
 */
async function keptAnswer(address) {
  if (!("caches" in window)) return undefined;
  return (await caches.open(CACHE)).match(address);
}

/**
 * @param {URL} address
 * @param {Uint8Array<ArrayBuffer>} data
 */
async function keep(address, data) {
  if (!("caches" in window)) return;
  try {
    await (await caches.open(CACHE)).put(address, new Response(data));
  } catch {
    // no room: it is fetched again next time
  }
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index++) bytes[index] = letters.charCodeAt(index);
  return bytes;
}
