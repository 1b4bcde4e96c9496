import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Cost } from "./costs.ts";
import { equation } from "./equations.ts";
import { createVectorCells, type VectorKind } from "./vectorCells.ts";

export interface BoxContent {
  vector?: ArrayLike<number>;
  text?: string; // in place of a vector, or below it
  equation?: string; // its name
  cost?: Cost;
  heading?: string; // in place of the usual one
  title?: string; // in place of the usual one, on hover
}

/** By box, the kind of a vector with a colour of its own. */
export const KINDS: Record<string, VectorKind> = {
  query: "query",
  key: "key",
  values: "value",
  heads: "mixed",
};

/**
 * One part of a path: its name, equation, vector, shape and cost.
 * @param name of its sentences and test id
 * @param enlarge called when its vector was clicked
 */
export function createBox(context: TraceContext, name: string, enlarge: () => void) {
  const { say } = context;
  const heading = element("h3", {});
  const formula = element("p", { class: "formula" });
  const cells = createVectorCells(`path-${name}-vector`, KINDS[name]);
  const large = buttonElement(enlarge, {
    class: "enlarge",
    title: say("path_enlarge"),
    "aria-label": `${say(`path_${name}`)}: ${say("path_enlarge")}`,
  });
  large.append(cells.element);
  const text = element("p", { class: "number", testid: `path-${name}-text` });
  const shape = element("p", { class: "shape" });
  const cost = element("p", { class: "cost" });
  const node = element(
    "li",
    { class: `inside-step ${name}`, testid: `path-${name}` },
    heading,
    formula,
    large,
    text,
    shape,
    cost,
  );
  let shown: ArrayLike<number> = [];
  let equationName: string | undefined;
  /** @param content null hides it */
  const draw = (content: BoxContent | null) => {
    node.hidden = content === null;
    if (!content) return;
    write(heading, content.heading ?? say(`path_${name}`));
    assign(node, "title", content.title ?? say(`path_${name}_title`));
    if (content.equation !== equationName) {
      equationName = content.equation;
      formula.replaceChildren(...(equationName ? [equation(equationName)] : []));
    }
    shown = content.vector ?? [];
    large.hidden = shown.length === 0;
    if (shown.length) cells.draw(shown, heading.textContent ?? "", context.palette);
    write(text, content.text ?? "");
    write(shape, shown.length ? `(1, ${shown.length})` : "");
    write(cost, content.cost ? costText(say, content.cost) : "");
    assign(cost, "title", content.cost ? say("path_cost_title") : null);
  };
  const shownVector = () =>
    shown.length ? { vector: shown, name: heading.textContent ?? "" } : null;
  return { element: node, draw, shown: shownVector };
}

function costText(say: Say, { parameters, products }: Cost) {
  const facts = { parameters: grouped(parameters), products: grouped(products) };
  return say(parameters ? "path_cost" : "path_cost_free", facts);
}

/** A whole number with a thin space between its thousands. */
export function grouped(number: number) {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
