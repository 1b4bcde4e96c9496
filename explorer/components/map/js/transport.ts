import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { Move } from "../../trace/js/actions.ts";
import { reveal } from "../../trace/js/guess.ts";
import { currentRow, stepName } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

interface Controls {
  buttons: Record<Move, HTMLButtonElement>;
  slider: HTMLInputElement;
  count: HTMLOutputElement;
  ahead: HTMLInputElement;
  label: HTMLElement; // of `ahead`
  hint: HTMLElement;
  projector: HTMLElement;
}

const ICONS = { first: "|◀", previous: "◀", play: "▶", pause: "❚❚", next: "▶", last: "▶|" };

/** First, Previous, Play, Next, Last, the Step slider and Show ahead. */
export function createTransport(context: TraceContext): Part {
  const { say, act } = context;
  const button = (name: Move) => {
    const word = element("span", { class: "word" }, say(name));
    return moveButton(context, name, name, word);
  };
  const buttons = {
    first: button("first"),
    previous: button("previous"),
    play: button("play"),
    next: button("next"),
    last: button("last"),
  };
  const slider = element("input", {
    type: "range",
    min: 1,
    testid: "step",
    "aria-label": say("step"),
    on: { input: () => act.goTo(Number(slider.value)) },
  });
  const count = element("output", { class: "count", testid: "step-count" });
  const ahead = element("input", {
    type: "checkbox",
    testid: "ahead",
    on: { change: () => context.set({ ahead: ahead.checked, hinted: true }) },
  });
  const hint = element("span", { class: "hint", testid: "hint" });
  const label = element(
    "label",
    { class: "ahead", title: say("ahead_title") },
    ahead,
    say("ahead"),
  );
  const projector = projectorButton(context);
  const node = element(
    "div",
    { class: "transport row wrap", role: "toolbar", "aria-label": say("transport") },
    joinMoves(Object.values(buttons), buttons.play),
    slider,
    count,
    label,
    hint,
    projector,
  );
  const controls = { buttons, slider, count, ahead, label, hint, projector };
  return { element: node, views: [() => drawTransport(context, controls)] };
}

/** The buttons as one stop of the Tab key: Play, or the one that was used last. */
function joinMoves(all: HTMLButtonElement[], first: HTMLButtonElement) {
  const node = element("span", { class: "moves" }, ...all);
  const shown = () => all.filter((one) => one.getClientRects().length > 0);
  followArrows(node, shown, { press: () => false });
  node.addEventListener("focusin", ({ target }) => markStop(all, target as HTMLButtonElement));
  markStop(all, first);
  return node;
}

/** A button that goes to another place. */
export function moveButton(
  { say, act }: { say: Say; act: Record<Move, () => void> },
  name: Move,
  testid: string,
  ...word: HTMLElement[]
) {
  return buttonElement(
    () => act[name](),
    { class: `move row ${name}`, testid, "aria-label": say(name), title: say(`${name}_title`) },
    element("span", { class: "icon", "aria-hidden": "true" }, ICONS[name]),
    ...word,
  );
}

/**
 * Name the play button by what a click does now.
 * @param reason why it does nothing; "" where it does
 */
export function namePlay(
  { state, say }: { state: { playing: boolean }; say: Say },
  button: HTMLButtonElement,
  reason = "",
) {
  const name = state.playing ? "pause" : "play";
  const [icon, word] = button.children;
  write(icon, ICONS[name]);
  if (word) write(word, say(name));
  assign(button, "aria-label", say(name));
  assign(button, "title", reason || say(`${name}_title`));
}

/** Larger type for a projector. */
function projectorButton(context: TraceContext) {
  return buttonElement(
    () => context.set({ projector: !context.state.projector }),
    { class: "quiet projector-switch", testid: "projector", title: context.say("projector_title") },
    context.say("projector"),
  );
}

/** Bring the controls to the state. */
function drawTransport(
  context: TraceContext,
  { buttons, slider, count, ahead, label, hint, projector }: Controls,
) {
  const { state, trace, say } = context;
  const still = trace.steps === 0; // nothing is gone through
  for (const part of [...Object.values(buttons), slider, count]) part.hidden = still;
  slider.parentElement?.classList.toggle("still", still);
  const all = trace.masks.length > 0; // rows of masks: nothing is ahead of another
  const off = currentRow(context) < 0;
  const away = off ? say(whyOff(context)) : "";
  const atStart = state.step <= 1;
  const atEnd = state.step >= trace.steps;
  const hidden = reveal(context) !== null;
  const disabled = {
    first: atStart && (all || !state.ahead),
    previous: atStart,
    play: false,
    next: atEnd && !hidden,
    last: atEnd,
  };
  for (const name of Object.keys(buttons) as Move[]) {
    assign(buttons[name], "aria-disabled", away || disabled[name] ? "true" : null);
    assign(buttons[name], "title", away || say(`${name}_title`));
  }
  namePlay(context, buttons.play, away);
  assign(projector, "aria-pressed", String(state.projector));
  const position = stepName(context);
  slider.max = String(Math.max(trace.steps, 1));
  slider.value = String(Math.max(state.step, 1));
  slider.disabled = away !== "";
  assign(slider, "title", away || null);
  assign(slider, "aria-valuetext", position);
  write(count, off ? "" : position);
  ahead.checked = state.ahead;
  ahead.disabled = away !== "";
  assign(label, "title", say("ahead_title"));
  label.hidden = all || still || Boolean(state.guess);
  write(hint, off ? away : all || state.hinted || state.projector ? "" : say(hintOf(context)));
  hint.hidden = Boolean(state.guess) && !off; // its space is that of the tally
  hint.hidden ||= context.pieces.header.predictions !== undefined; // they say what there is
  hint.hidden ||= !off && context.inLesson; // its card says what to do
}

/** The first hint; where a text opens in the middle, it says why. */
function hintOf({ pieces, state }: TraceContext) {
  const { view } = pieces.header;
  return view.suggested && state.step > 1 ? "hint_step" : "hint";
}

/** The sentence that says why there is nothing to step through. */
function whyOff({ state, trace }: TraceContext) {
  if (state.site !== "encoder") return "no_steps";
  return trace.target.length ? "encoder_reason" : "encoder_alone";
}
