import { assign, element, populate, positionRectangle } from "../../dom/js/element.ts";

export interface Bar {
  value: number; // above or below zero
  title: string; // on hover
  chosen?: boolean;
  masked?: boolean;
}

const HEIGHT = 64; // px
const WIDEST = 16; // px of a bar
const LEAST = 1; // px, so that no bar is nothing

/** Signed bars side by side on one zero line. */
export function createBars(testid: string) {
  const line = element("i", { class: "zero" });
  const row = element("div", {});
  // The numbers stand beside it.
  const chart = element("div", { class: "bars", testid, "aria-hidden": "true" }, row, line);
  chart.style.height = `${HEIGHT}px`;
  /**
   * @param width px
   * @param span
   *   between which numbers the scale lies; without it, of the bars alone
   */
  const draw = (bars: Bar[], width: number, span: number[] = []) => {
    const step = Math.min(WIDEST, width / Math.max(bars.length, 1));
    const most = Math.max(0, ...bars.map(({ value }) => value), ...span);
    const least = Math.min(0, ...bars.map(({ value }) => value), ...span);
    const perUnit = most > least ? HEIGHT / (most - least) : 0;
    const zero = most * perUnit;
    chart.style.width = `${step * bars.length}px`;
    positionRectangle(line, 0, Math.min(zero, HEIGHT - 1), step * bars.length, 1);
    const nodes = populate(row, bars.length, () => element("i", {}));
    bars.forEach(({ value, title, chosen, masked }, index) => {
      const height = Math.max(Math.abs(value) * perUnit, LEAST);
      const top = value < 0 ? zero : zero - height;
      const names = ["component", chosen && "chosen", masked && "masked"];
      assign(nodes[index], "class", names.filter(Boolean).join(" "));
      assign(nodes[index], "title", title);
      positionRectangle(nodes[index], index * step, top, Math.max(step - 1, LEAST), height);
    });
  };
  return { element: chart, draw };
}
