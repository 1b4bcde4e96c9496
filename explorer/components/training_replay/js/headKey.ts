import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import type { Palette } from "../../page/js/palette.ts";
import { headName } from "../../trace/js/stepState.ts";
import { headColour } from "./curvePanels.ts";
import type { ReplayContext } from "./replayContext.ts";

interface HeadButton {
  button: HTMLButtonElement;
  weight: HTMLElement;
}

/** The gold weights of the heads at this moment, which is also the key to the curves above. */
export function createHeadKey(context: ReplayContext): Part {
  const node = element("div", { class: "head-key", testid: "head-key", role: "group" });
  assign(node, "aria-label", context.say("gold"));
  let buttons: HeadButton[][] = [];
  let shape = "";
  let palette: Palette | null = null; // of the buttons
  const draw = () => {
    node.hidden = context.run.others.length > 0; // their table is the key then
    const gold = context.run.moments[context.state.at]?.gold ?? [];
    const next = gold.map((layer) => layer.length).join();
    if (next !== shape || context.palette !== palette) {
      shape = next;
      palette = context.palette;
      buttons = gold.map((heads, layer) =>
        heads.map((_, head) => headButton(context, layer, head, heads.length)),
      );
      node.replaceChildren(...buttons.map(layerRow));
    }
    gold.forEach((heads, layer) => {
      heads.forEach((weight, head) => {
        drawHead(context, buttons[layer][head], layer, head, weight);
      });
    });
  };
  return { element: node, views: [draw] };
}

/** The heads of one layer. */
function layerRow(heads: HeadButton[], layer: number) {
  const name = element("span", { class: "layer" }, `L${layer}`);
  return element("div", { class: "head-row row wrap" }, name, ...heads.map(({ button }) => button));
}

/** @param heads of the layer */
function headButton(
  context: ReplayContext,
  layer: number,
  head: number,
  heads: number,
): HeadButton {
  const line = element("i", { class: "line" });
  line.style.background = headColour(context.palette, layer, head, heads);
  const weight = element("output", { class: "weight" });
  const button = buttonElement(
    () => context.act.chooseHead(layer, head),
    { class: "head row" },
    line,
    element("span", { class: "name" }, `H${head}`),
    " ",
    weight,
  );
  return { button, weight };
}

/** The weight of a head, and whether it is the selected one. */
function drawHead(
  { say, selected }: ReplayContext,
  { button, weight: output }: HeadButton,
  layer: number,
  head: number,
  weight: number | null,
) {
  const text = weight === null ? "–" : shortWeight(weight);
  write(output, text);
  const title = say("head_title", { head: headName(layer, head), weight: text });
  assign(button, "title", title);
  assign(button, "aria-label", title);
  assign(
    button,
    "aria-pressed",
    selected?.layer === layer && selected.head === head ? "true" : "false",
  );
}
