import { assign, buttonElement, element, populate, write } from "../../dom/js/element.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { labelOf, writeToken } from "../../trace/js/label.ts";
import { isAsked, shownKeys, siteOf } from "../../trace/js/stepState.ts";
import type { Cell } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

const LEAST_SHOWN = 0.005; // a smaller weight is a dot, as in the map
const STRONG = 0.6; // from here on a dark colour, on which the number is light

/** The map's row beside the calculation, which the map may be too far above to be seen with. */
export function createCurrentRow(context: TraceContext) {
  const query = element("bdi", { class: "token", testid: "inside-query" });
  const keys = element("ol", { class: "row-keys" });
  const node = element(
    "div",
    { class: "inside-row", role: "group", testid: "inside-row" },
    query,
    keys,
  );
  const makeKey = (key: number) =>
    element(
      "li",
      {},
      buttonElement(() => choose(key), {}),
    );
  const choose = (key: number) => {
    const { inside } = context.state;
    if (inside) context.set({ inside: { query: inside.query, key } });
  };
  const draw = (weights: number[], masked: ArrayLike<number>, cell: Cell) => {
    const { queryTokens, keyTokens } = siteOf(context);
    assign(node, "aria-label", context.say("inside_row"));
    writeToken(query, queryTokens[cell.query]);
    const shown = Math.max(shownKeys(context), cell.key + 1); // later tokens may be guessed
    populate(keys, shown, makeKey).forEach((item, key) => {
      const button = item.firstElementChild as HTMLElement;
      const number = isAsked(context, "weight", { query: cell.query, key })
        ? ASKED
        : printed(weights[key]);
      drawKey(button, keyTokens[key], weights[key], masked[key] ? "" : number);
      assign(button.lastElementChild as Element, "data-masked", masked[key] || null);
      assign(button, "aria-pressed", key === cell.key ? "true" : "false");
    });
    requestAnimationFrame(() => centre(keys, cell.key)); // measured after the layout
  };
  return { element: node, draw };
}

function printed(weight: number) {
  return weight < LEAST_SHOWN ? "·" : shortWeight(weight);
}

/** @param text of its weight */
function drawKey(button: HTMLElement, token: string, weight: number, text: string) {
  const [name, number] = populate(button, 2, (part) =>
    element("span", { class: part ? "cell" : "token" }),
  );
  writeToken(name, token);
  write(number, text);
  number.classList.toggle("strong", weight > STRONG);
  number.style.setProperty("--share", String(weight));
  assign(button, "title", labelOf(token)); // a long one is cut
}

/** Scroll a row that is wider than the panel to one of its keys. */
function centre(keys: HTMLElement, key: number) {
  const item = keys.children[key];
  if (item instanceof HTMLElement)
    keys.scrollLeft = item.offsetLeft - (keys.clientWidth - item.offsetWidth) / 2;
}
