import { assign, buttonElement, element, type Part } from "../../dom/js/element.ts";
import { createStore } from "../../dom/js/store.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { headAt, headName } from "../../trace/js/stepState.ts";
import { momentsFigure } from "./momentsFigure.ts";
import type { HeadChoice, ReplayContext } from "./replayContext.ts";

/**
 * The picture of heads at several moments, over the page: which heads, and the picture as a file.
 * @returns `opener`: the button that shows it
 */
export function createMomentsDialog(replay: ReplayContext): Part & { opener: HTMLButtonElement } {
  const { say } = replay;
  const paper = element("div", { class: "moments-paper", testid: "moments-paper", tabindex: "0" });
  const choice = element("div", { class: "moments-heads", role: "group" });
  assign(choice, "aria-label", say("moments_heads"));
  const { values: state, set } = createStore({ open: false, without: [] as string[] }); // heads left out
  let shownHeads = "";
  /** @param width px */
  const figure = (width?: number) => {
    const { picture } = replay;
    const chosen = headsOf(replay).filter((head) => !state.without.includes(nameOf(head)));
    return picture && momentsFigure(replay, picture, chosen, width);
  };
  /** Take a head in or leave it out. */
  const toggle = (name: string) => {
    const others = state.without.filter((other) => other !== name);
    set({ without: others.length < state.without.length ? others : [...others, name] });
  };
  const headSwitch = (name: string) => buttonElement(() => toggle(name), { class: "quiet" }, name);
  const draw = () => {
    if (!state.open) return;
    const heads = headsOf(replay).map(nameOf);
    if (shownHeads !== heads.join()) {
      shownHeads = heads.join();
      set({ without: [] });
      choice.replaceChildren(...heads.map(headSwitch));
    }
    heads.forEach((name, index) => {
      assign(choice.children[index], "aria-pressed", String(!state.without.includes(name)));
    });
    const drawing = figure()?.drawing;
    paper.replaceChildren(
      drawing ?? say(state.without.length ? "moments_no_head" : "loading_picture"),
    );
    for (const button of saving) button.disabled = !drawing;
  };
  const fileName = () => `heads-${replay.run.name}`;
  const saving = figureButtons(replay.sayOfPlayer, { figure, fileName, prefix: "moments-" });
  const close = buttonElement(() => dialog.close(), { class: "quiet" }, say("moments_close"));
  const dialog = element(
    "dialog",
    { class: "moments-dialog", testid: "moments-dialog" },
    element("div", { class: "moments-tools" }, choice, ...saving, close),
    paper,
  );
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // no moves of the page
  dialog.addEventListener("close", () => set({ open: false }));
  const open = () => {
    set({ open: true });
    replay.screen.flush(); // its first button gets the focus
    dialog.showModal();
  };
  const looks = { testid: "moments-open", title: say("moments_title") };
  const opener = buttonElement(open, looks, say("moments"));
  return { element: dialog, opener, views: [draw] };
}

function headsOf({ run, picture }: ReplayContext): HeadChoice[] {
  const { layers = 0, heads = 0 } = picture?.pieces.sites[run.site] ?? {};
  return Array.from({ length: layers * heads }, (_, index) => headAt(index, heads));
}

function nameOf({ layer, head }: HeadChoice) {
  return headName(layer, head);
}
