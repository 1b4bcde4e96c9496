import { assign, element } from "../../shared/js/element.js";
import { figureButtons } from "../../shared/js/figureButtons.js";
import { fillIn } from "../../shared/js/sentences.js";
import { headName } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { momentsFigure } from "./momentsFigure.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadChoice, ReplayContext } from "./replayContext.js" */

/**
 * The picture of heads at several moments, over the page: which heads, and the picture as a file.
 * @param {ReplayContext} replay
 * @param {() => TraceContext | null} picture of the probe; null as long as there is none
 * @returns {Part & {opener: HTMLButtonElement}} `opener`: the button that shows it
 */
export function createMomentsDialog(replay, picture) {
  const { say } = replay;
  const paper = element("div", { class: "moments-paper", testid: "moments-paper", tabindex: "0" });
  const choice = element("div", { class: "moments-heads", role: "group" });
  assign(choice, "aria-label", say("moments_heads"));
  /** @type {Set<string>} names of the heads that are left out */
  const without = new Set();
  let shownHeads = "";
  /** @param {number} [width] px */
  const figure = (width) => {
    const probe = picture();
    const chosen = crossHeads(probe).filter((head) => !without.has(nameOf(head)));
    return probe && momentsFigure(replay, probe, chosen, width);
  };
  const draw = () => {
    const heads = crossHeads(picture());
    if (shownHeads !== heads.map(nameOf).join()) {
      shownHeads = heads.map(nameOf).join();
      without.clear();
      choice.replaceChildren(...heads.map((head) => headSwitch(nameOf(head), without, draw)));
    }
    const drawing = figure()?.drawing;
    paper.replaceChildren(drawing ?? say(without.size ? "moments_no_head" : "loading_picture"));
    for (const button of saving) button.disabled = !drawing;
  };
  const fileName = () => `heads-${replay.run.name}`;
  /** @param {string} key */
  const sayOfPlayer = (key) => fillIn(replay.run.player, key);
  const saving = figureButtons(sayOfPlayer, { figure, fileName, prefix: "moments-" });
  const close = element(
    "button",
    { type: "button", class: "quiet", on: { click: () => dialog.close() } },
    say("moments_close"),
  );
  const dialog = element(
    "dialog",
    { class: "moments-dialog", testid: "moments-dialog" },
    element("div", { class: "moments-tools" }, choice, ...saving, close),
    paper,
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // no moves of the page
  const opener = element(
    "button",
    {
      type: "button",
      testid: "moments-open",
      title: say("moments_title"),
      on: {
        click: () => {
          draw();
          dialog.showModal();
        },
      },
    },
    say("moments"),
  );
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (dialog.open && anyOf(changed, "run", "traces")) draw();
  };
  return { element: dialog, opener, update };
}

/**
 * @param {TraceContext | null} probe
 * @returns {HeadChoice[]}
 */
function crossHeads(probe) {
  const { layers = 0, heads = 0 } = probe?.pieces.sites.cross ?? {};
  return Array.from({ length: layers * heads }, (_, index) => ({
    layer: Math.floor(index / heads),
    head: index % heads,
  }));
}

/** @param {HeadChoice} choice */
function nameOf({ layer, head }) {
  return headName(layer, head);
}

/**
 * A head to take in or leave out.
 * @param {string} name
 * @param {Set<string>} without
 * @param {() => void} draw
 */
function headSwitch(name, without, draw) {
  const toggle = () => {
    if (!without.delete(name)) without.add(name);
    assign(button, "aria-pressed", String(!without.has(name)));
    draw();
  };
  const looks = { type: "button", class: "quiet", on: { click: toggle } };
  const button = element("button", { ...looks, "aria-pressed": "true" }, name);
  return button;
}
