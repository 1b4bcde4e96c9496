import { assign, element, write } from "../../dom/js/element.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createBars } from "./bars.ts";
import { decimal } from "./printedNumbers.ts";

const MARGINS = 60; // px beside the bars

/** A vector, large: each number a bar. */
export function createDetail(context: TraceContext) {
  const bars = createBars("path-detail-bars");
  const caption = element("p", { class: "number", testid: "path-detail-caption" });
  const node = element("div", { class: "detail", testid: "path-detail" }, caption, bars.element);
  /** @param kind of a vector with a colour of its own */
  const show = (vector: ArrayLike<number>, name: string, kind?: string) => {
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
    bars.draw(drawn, context.width() - MARGINS);
  };
  return { element: node, show };
}
