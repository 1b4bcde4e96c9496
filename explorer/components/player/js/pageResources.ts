import type { ServerlessResources } from "../../trace/js/traceQuestions.ts";

/** The bytes of an element of the page: base64, and compressed with gzip where it says so. */
export async function bytesOf(node: HTMLElement): Promise<Uint8Array> {
  const text = node.textContent ?? "";
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length); // by `from` it would take ten times as long
  for (let index = 0; index < letters.length; index += 1) bytes[index] = letters.charCodeAt(index);
  if (node.dataset.encoding !== "gzip") return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The answers about a trace that a part of the page holds. */
export function resourcesIn(part: ParentNode): ServerlessResources {
  const nodes = [...part.querySelectorAll("script[data-resource]")];
  const byName = new Map(nodes.map((node) => [node.getAttribute("data-resource") ?? "", node]));
  return {
    held: [...byName.keys()],
    fetch: async (name, place) => {
      const node = byName.get(`${name}/${place}`);
      if (!(node instanceof HTMLElement)) throw new Error(`no ${name} of ${place}`);
      return bytesOf(node);
    },
  };
}
