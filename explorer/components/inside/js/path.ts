import { element } from "../../dom/js/element.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { HeadVectors } from "./arithmetic.ts";
import { type BoxContent, createBox } from "./box.ts";
import type { TokenPath } from "./tokenPath.ts";

type ContentsOf = (
  context: TraceContext,
  path: TokenPath,
  head: HeadVectors,
  cell: Cell,
) => Record<string, BoxContent | null>;

/**
 * A part of the path of a token as boxes from left to right.
 * @param contentsOf what the boxes show; null where there is none
 * @param enlarge called with the name of the box that was clicked
 */
export function createPath(
  context: TraceContext,
  names: string[],
  contentsOf: ContentsOf,
  enlarge: (name: string) => void,
) {
  const boxes = names.map((name) => createBox(context, name, () => enlarge(name)));
  const node = element(
    "ol",
    { class: "inside-steps path" },
    ...boxes.map(({ element: box }) => box),
  );
  const draw = (path: TokenPath, head: HeadVectors, cell: Cell) => {
    const contents = contentsOf(context, path, head, cell);
    names.forEach((name, index) => {
      boxes[index].draw(contents[name] ?? null);
    });
  };
  /** The vector in the box of a name. */
  const shown = (name: string) => boxes[names.indexOf(name)]?.shown() ?? null;
  return { element: node, draw, shown };
}
