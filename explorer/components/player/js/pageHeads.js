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
 * The weights of a head that the page holds.
 * @type {FetchHead}
 */
export async function headOfPage(name) {
  const node = document.querySelector(`script[data-head="${name}"]`);
  if (!(node instanceof HTMLElement)) throw new Error(`no weights of ${name}`);
  return bytesOf(node);
}

/** What the page holds of the inside of heads. @returns {PageInside} */
export function insideOfPage() {
  const nodes = [...document.querySelectorAll("script[data-inside]")];
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

/** The names of the heads whose weights the page holds. */
export function headsOfPage() {
  const nodes = [...document.querySelectorAll("script[data-head]")];
  return nodes.map((node) => node.getAttribute("data-head") ?? "");
}
