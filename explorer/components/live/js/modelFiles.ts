/**
 * The bytes of a model's file: inside the page, beside it on disk, or on the host that served it.
 */

import { ModelError } from "../../browser_model/js/modelError.ts";
import { decodeText, textInScript } from "./modelText.ts";

export interface ModelFile {
  name: string;
  bytes: number;
  scriptBytes: number; // of the script that has it as a text
  sha256: string;
  data?: Uint8Array<ArrayBuffer>; // of one that came from another page, without a file
}

const CACHE = "attention-explorer-models";
const DAMAGED = "damaged_checkpoint"; // the sentence about a file that fails its SHA-256

/** A computation takes float32 for float16, and the file itself while it is read. */
const MEMORY = 4; // times the bytes of the file
const SHARE = 1 / 8; // of the device's memory that a page may fill

/** Why a device cannot hold a model; null where nothing says so. */
export function tooLarge({ name, bytes }: ModelFile) {
  const { deviceMemory } = navigator as Navigator & { deviceMemory?: number };
  const needed = Math.ceil((MEMORY * bytes) / 2 ** 20);
  const limit = Math.floor((deviceMemory ?? Infinity) * 1024 * SHARE);
  return needed > limit ? new ModelError("model_too_large", { name, needed, limit }) : null;
}

/**
 * Hand the bytes of a model's file to `open`, which rejects where they are not those of the static site.
 * Rejects with a `ModelError` where there is no such file, or one that was cut off or replaced.
 * @param onProgress told of 0 to 1
 */
export async function openModel(
  file: ModelFile,
  open: (data: Uint8Array<ArrayBuffer>) => Promise<unknown>,
  onProgress: (share: number) => void,
) {
  const { name, bytes, data } = file;
  const decoded = (text: string) => decodeText(new TextEncoder().encode(text), bytes);
  const inPage = Array.from(document.querySelectorAll("script[data-model]")).find(
    (script) => script.getAttribute("data-model") === name,
  );
  if (data)
    await open(data.slice()); // what is opened is handed to a worker
  else if (inPage) await open(decoded(inPage.textContent ?? ""));
  else if (location.protocol === "file:") await open(decoded(await scriptText(name)));
  else await openFetched(file, open, onProgress);
}

/**
 * The text in a model's script; from disk, browsers allow no `fetch`, but a script that calls the
 * page. Several can be under way: each call is told apart by its element.
 */
function scriptText(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const receiver = window as unknown as { receiveModel?: (text: string) => void };
    receiver.receiveModel = (text) =>
      document.currentScript?.dispatchEvent(new CustomEvent("model", { detail: text }));
    script.addEventListener("model", (event) => resolve((event as CustomEvent<string>).detail));
    script.onerror = () => reject(notThere(name));
    script.onload = () => {
      script.remove();
      reject(damaged(name)); // unless it has called already; a script that was cut off does not run
    };
    script.src = scriptPath(name);
    document.head.append(script);
  });
}

function scriptPath(name: string) {
  return `models/${encodeURIComponent(name)}.js`;
}

/**
 * Open what an earlier visit has kept, else what the host sends. Only bytes that could be opened are
 * kept: a host, or a network before a login, may answer with something else.
 */
async function openFetched(
  file: ModelFile,
  open: (data: Uint8Array<ArrayBuffer>) => Promise<unknown>,
  onProgress: (share: number) => void,
) {
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

/** Whether an earlier visit has kept the file; a damaged one is deleted. */
async function openKept(
  cache: Cache,
  address: URL,
  open: (data: Uint8Array<ArrayBuffer>) => Promise<unknown>,
) {
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

async function keptBytes(cache: Cache, address: URL) {
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
 */
async function fetched(
  address: URL,
  { name, bytes, scriptBytes }: ModelFile,
  onProgress: (share: number) => void,
) {
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

/** In place of the file of an earlier version. */
async function keep(cache: Cache, address: URL, data: Uint8Array<ArrayBuffer>) {
  try {
    await cache.delete(address, { ignoreSearch: true });
    await cache.put(address, new Response(data));
  } catch {
    // no room: it is fetched again next time
  }
}

function damaged(name: string) {
  return new ModelError(DAMAGED, { name });
}

function notThere(name: string) {
  return new ModelError("model_not_there", { name });
}
