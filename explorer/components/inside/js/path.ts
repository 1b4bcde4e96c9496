import { element } from "../../dom/js/element.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import { type BoxContent, createBox, type ShownVector } from "./box.ts";
import type { TokenPath } from "./tokenPath.ts";

type ContentsOf = (
  context: TraceContext,
  path: TokenPath,
  head: HeadVectors,
  cell: Cell,
) => Record<string, BoxContent | null>;

/** A part of the path of a token, from left to right. */
interface PathView {
  element: HTMLElement;
  draw: (path: TokenPath, head: HeadVectors, cell: Cell) => void;
  shown: (name: string) => ShownVector | null; // by the box of this name
}

/**
 * Boxes from left to right.
 * @param contentsOf what the boxes show; null where there is none
 * @param enlarge called with the name of the box that was clicked
 */
export function createPath(
  context: TraceContext,
  names: string[],
  contentsOf: ContentsOf,
  enlarge: (name: string) => void,
): PathView {
  const boxes = names.map((name) => createBox(context, name, () => enlarge(name)));
  const node = element(
    "ol",
    { class: "inside-steps path" },
    ...boxes.map(({ element: box }) => box),
  );
  const draw: PathView["draw"] = (path, head, cell) => {
    const contents = contentsOf(context, path, head, cell);
    names.forEach((name, index) => {
      boxes[index].draw(contents[name] ?? null);
    });
  };
  const shown: PathView["shown"] = (name) => boxes[names.indexOf(name)]?.shown() ?? null;
  return { element: node, draw, shown };
}
