import type { AttributeValue } from "./element.ts";

let namespace: string | null = null;

/** Make an SVG element. */
export function drawn(
  tag: string,
  attributes: Record<string, AttributeValue> = {},
  ...children: (Node | string)[]
) {
  namespace ??= (
    new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg") as Element
  ).namespaceURI;
  const node = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node as SVGElement;
}

/** Let a drawing hold these shapes; the same ones as before are not painted again. */
export function redraw(drawing: SVGElement, shapes: SVGElement[]) {
  const { children } = drawing;
  const same = shapes.every((shape, index) => shape.isEqualNode(children[index] ?? null));
  if (!same || shapes.length !== children.length) drawing.replaceChildren(...shapes);
}
