/** @import { FetchHead } from "../../shared/js/headLoading.js" */
/** @import { PageInside } from "../../shared/js/traceContext.js" */

/**
 * The bytes of an element of the page: base64, and compressed with gzip where it says so.
 * @param {HTMLElement} node
 * @returns {Promise<Uint8Array>}
 */
export async function bytesOf(node) {
  const text = node.textContent ?? "";
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (node.dataset.encoding !== "gzip") return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * How to get the weights of the heads that a part of the page holds.
 * @param {ParentNode} part
 * @returns {FetchHead}
 */
export function headsIn(part) {
  return async (name) => {
    const node = part.querySelector(`script[data-head="${name}"]`);
    if (!(node instanceof HTMLElement)) throw new Error(`no weights of ${name}`);
    return bytesOf(node);
  };
}

/**
 * What a part of the page holds of the inside of heads.
 * @param {ParentNode} part
 * @returns {PageInside}
 */
export function insideIn(part) {
  const nodes = [...part.querySelectorAll("script[data-inside]")];
  const byName = new Map(nodes.map((node) => [node.getAttribute("data-inside") ?? "", node]));
  return {
    held: [...byName.keys()],
    fetch: async (name) => {
      const node = byName.get(name);
      if (!(node instanceof HTMLElement)) throw new Error(`nothing inside ${name}`);
      return bytesOf(node);
    },
  };
}

/**
 * The names of the heads whose weights a part of the page holds.
 * @param {ParentNode} part
 */
export function namesIn(part) {
  const nodes = [...part.querySelectorAll("script[data-head]")];
  return nodes.map((node) => node.getAttribute("data-head") ?? "");
}
