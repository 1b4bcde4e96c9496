import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { scrollIntoSight } from "../../dom/js/inView.ts";
import { linesOf } from "../../trace/js/editing.ts";
import { chipName } from "../../trace/js/interventions.ts";
import { labelOf, tokenElement } from "../../trace/js/label.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { stepPredicting } from "../../trace/js/unitChoice.ts";
import { commonTokens } from "./commonTokens.ts";

/**
 * What a visitor changed, forced tokens and interventions, each of which can be undone, and the outputs
 * with and without. Where they are far below the candidates, the page is scrolled to them after one
 * more change.
 */
export function createChanges(context: TraceContext): Part {
  const { say, act } = context;
  const chips = element("div", { class: "chips", testid: "changes" });
  const undoAll = buttonElement(
    () => act.reset(),
    { class: "quiet", testid: "undo-all" },
    say("undo_all"),
  );
  const outputs = element("div", { class: "outputs", testid: "outputs" });
  const why = element("p", { class: "note", testid: "same-output" });
  const node = element(
    "section",
    { class: "changes row wrap", "aria-label": say("changes") },
    chips,
    undoAll,
    outputs,
    why,
  );
  let before = countChanges(context);
  const drawChips = () => {
    const forced = context.state.guess ? [] : context.trace.header.view.forced; // they tell what comes
    chips.replaceChildren(
      ...forced.map(([step, token]) => tokenChip(context, step, token)),
      ...linesOf(context).map((line) => interventionChip(context, line)),
    );
  };
  const draw = () => {
    const { view, facts, original } = context.trace.header; // a trace in words has its own original
    const guessing = context.state.guess !== null;
    const count = countChanges(context);
    const shown = guessing ? linesOf(context).length : count;
    node.hidden = shown === 0 || Boolean(facts.given);
    const more = count > before;
    before = count;
    if (node.hidden) return;
    undoAll.hidden = guessing || !context.state.whatIf; // a saved page has no model to decode with
    why.hidden = outputs.hidden = guessing;
    if (guessing) return;
    const same = drawOutputs(context, outputs, original ?? view.original);
    const unmasked = linesOf(context).includes("omit mask");
    write(why, same && unmasked ? say("without_mask_same") : "");
    const effect = context.root.querySelector<HTMLElement>(".effect:not([hidden])");
    if (more && context.narrow())
      requestAnimationFrame(() => scrollIntoSight(context.root, effect ?? node));
  };
  return { element: node, views: [drawChips, draw] };
}

function countChanges(context: TraceContext) {
  return context.trace.header.view.forced.length + linesOf(context).length;
}

/**
 * A forced token with its step.
 * @param step of the pieces
 */
function tokenChip(context: TraceContext, step: number, token: string) {
  const { say, act, trace, pieces } = context;
  const mask = pieces.masks.indexOf(step - 1) + 1;
  const shown = mask || stepPredicting(trace, step);
  const undo = say(mask ? "unforce_mask" : "unforce", { step: shown });
  const name = say(mask ? "forced_mask" : "forced_chip", { step: shown, token: labelOf(token) });
  return chip(context, name, { undo, testid: `unforce-${step}` }, () => act.unforce(step));
}

/** An intervention in words. */
function interventionChip(context: TraceContext, line: string) {
  const { say, act, pieces } = context;
  const name = chipName(line, say, pieces.sites);
  const labels = { undo: say("undo", { chip: name }), testid: `undo-${line}` };
  return chip(context, name, labels, () => act.change({ add: [], remove: [line] }));
}

/** What was changed, and a button that undoes it. */
function chip(
  { state }: TraceContext,
  name: string,
  { undo, testid }: Record<"undo" | "testid", string>,
  press: () => void,
) {
  const attributes = { class: "remove", testid, "aria-label": undo, title: undo };
  const remove = buttonElement(press, attributes, "✕");
  remove.hidden = !state.whatIf || state.guess !== null;
  return element("span", { class: "change-chip row" }, element("bdi", {}, name), remove);
}

/**
 * The original output and the present one, as far as decoded; differences underlined.
 * @returns whether both are shown whole and are the same
 */
function drawOutputs({ trace, say, state }: TraceContext, parent: HTMLElement, original: string[]) {
  parent.hidden = original.length === 0;
  if (parent.hidden) return false;
  const first = Math.max(trace.prompt - 1, 0);
  const shown = state.ahead ? Infinity : Math.max(state.step - first, 0);
  const [before, now] = [original, trace.predicted].map((tokens) => tokens.slice(first));
  const [inBefore, inNow] = commonTokens(before, now);
  parent.replaceChildren(
    outputLine(say("output_original"), before, inBefore, shown),
    outputLine(say("output_now"), now, inNow, shown),
  );
  const same = [...inBefore, ...inNow].every(Boolean);
  return same && shown >= now.length;
}

/**
 * An output as a line of tokens; those that the other one has not are underlined.
 * @param name in front of the line
 * @param common whether the other one has the token
 * @param shown how many tokens are shown
 */
function outputLine(name: string, tokens: string[], common: boolean[], shown: number) {
  const drawn = tokens
    .slice(0, shown)
    .map((token, index) => tokenElement(token, { class: common[index] ? "" : "differs" }));
  return element(
    "div",
    { class: "output" },
    element("span", { class: "output-name" }, name),
    ...drawn,
    ...(tokens.length > shown ? ["…"] : []),
  );
}
