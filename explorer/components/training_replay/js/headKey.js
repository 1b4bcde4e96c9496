import { assign, element, write } from "../../shared/js/element.js";
import { shortWeight } from "../../shared/js/numbers.js";
import { headName } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { headColour } from "./curvePanels.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { ReplayContext } from "./replayContext.js" */

/**
 * @typedef {object} HeadButton
 * @property {HTMLButtonElement} button
 * @property {HTMLElement} weight
 */

/**
 * The gold weights of the heads at this moment, which is also the key to the curves above.
 * @param {ReplayContext} context
 * @returns {Part}
 */
export function createHeadKey(context) {
  const node = element("div", { class: "head-key", testid: "head-key", role: "group" });
  assign(node, "aria-label", context.say("gold"));
  /** @type {HeadButton[][]} */
  let buttons = [];
  let shape = "";
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "run", "at", "theme", "head")) return;
    node.hidden = context.run.others.length > 0; // their table is the key then
    const gold = context.run.moments[context.state.at]?.gold ?? [];
    const next = gold.map((layer) => layer.length).join();
    if (next !== shape || changed.has("theme")) {
      shape = next;
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
  return { element: node, update };
}

/**
 * The heads of one layer.
 * @param {HeadButton[]} heads
 * @param {number} layer
 */
function layerRow(heads, layer) {
  const name = element("span", { class: "layer" }, `L${layer}`);
  return element("div", { class: "head-row" }, name, ...heads.map(({ button }) => button));
}

/**
 * @param {ReplayContext} context
 * @param {number} layer
 * @param {number} head
 * @param {number} heads of the layer
 * @returns {HeadButton}
 */
function headButton(context, layer, head, heads) {
  const line = element("i", { class: "line" });
  line.style.background = headColour(context.palette, layer, head, heads);
  const weight = element("output", { class: "weight" });
  const button = element(
    "button",
    { type: "button", class: "head", on: { click: () => context.chooseHead(layer, head) } },
    line,
    element("span", { class: "name" }, `H${head}`),
    " ",
    weight,
  );
  return { button, weight };
}

/**
 * The weight of a head, and whether it is the selected one.
 * @param {ReplayContext} context
 * @param {HeadButton} parts
 * @param {number} layer
 * @param {number} head
 * @param {number | null} weight
 */
function drawHead({ say, selected }, { button, weight: output }, layer, head, weight) {
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
