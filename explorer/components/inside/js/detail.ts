import { assign, element, write } from "../../dom/js/element.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createBars } from "./bars.ts";
import { decimal } from "./printedNumbers.ts";

/** A vector, large: each number a bar. */
export interface Detail {
  element: HTMLElement;
  /** kind: of a vector with a colour of its own */
  show: (vector: ArrayLike<number>, name: string, kind?: string) => void;
}

const MARGINS = 60; // px beside the bars

export function createDetail(context: TraceContext): Detail {
  const bars = createBars("path-detail-bars");
  const caption = element("p", { class: "number", testid: "path-detail-caption" });
  const node = element("div", { class: "detail", testid: "path-detail" }, caption, bars.element);
  const show: Detail["show"] = (vector, name, kind) => {
    void context.size; // measures
    assign(node, "data-kind", kind);
    const numbers = Array.from(vector);
    const facts = {
      name,
      count: numbers.length,
      least: decimal(Math.min(...numbers)),
      most: decimal(Math.max(...numbers)),
      length: decimal(Math.hypot(...numbers)),
    };
    write(caption, context.say("path_detail", facts));
    const title = (index: number) => `${name} [${index + 1}] = ${decimal(numbers[index])}`;
    const drawn = numbers.map((value, index) => ({ value, title: title(index) }));
    bars.draw(drawn, context.root.clientWidth - MARGINS);
  };
  return { element: node, show };
}
