import type { Part } from "../../dom/js/element.ts";
import { assign, element } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { anyOf } from "../../dom/js/store.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { momentsFigure } from "./momentsFigure.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";

/**
 * The picture of heads at several moments, over the page: which heads, and the picture as a file.
 * @param picture of the probe; null as long as there is none
 * @returns `opener`: the button that shows it
 */
export function createMomentsDialog(
  replay: ReplayContext,
  picture: () => TraceContext | null,
): Part & { opener: HTMLButtonElement } {
  const { say } = replay;
  const paper = element("div", { class: "moments-paper", testid: "moments-paper", tabindex: "0" });
  const choice = element("div", { class: "moments-heads", role: "group" });
  assign(choice, "aria-label", say("moments_heads"));
  const without: Set<string> = new Set(); // names of the heads that are left out
  let shownHeads = "";
  /** @param width px */
  const figure = (width?: number) => {
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
  const sayOfPlayer = (key: string) => fillIn(replay.run.player, key);
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
  const update = (changed: Set<string>) => {
    if (dialog.open && anyOf(changed, "run", "traces")) draw();
  };
  return { element: dialog, opener, update };
}

function crossHeads(probe: TraceContext | null): HeadChoice[] {
  const { layers = 0, heads = 0 } = probe?.pieces.sites.cross ?? {};
  return Array.from({ length: layers * heads }, (_, index) => ({
    layer: Math.floor(index / heads),
    head: index % heads,
  }));
}

function nameOf({ layer, head }: HeadChoice) {
  return headName(layer, head);
}

/** A head to take in or leave out. */
function headSwitch(name: string, without: Set<string>, draw: () => void) {
  const toggle = () => {
    if (!without.delete(name)) without.add(name);
    assign(button, "aria-pressed", String(!without.has(name)));
    draw();
  };
  const looks = { type: "button", class: "quiet", on: { click: toggle } };
  const button = element("button", { ...looks, "aria-pressed": "true" }, name);
  return button;
}
