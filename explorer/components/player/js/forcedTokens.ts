import { buttonElement, element, type Part } from "../../dom/js/element.ts";
import { scrollIntoSight } from "../../dom/js/inView.ts";
import { labelOf, tokenElement } from "../../trace/js/label.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { stepPredicting } from "../../trace/js/unitChoice.ts";
import { commonTokens } from "./commonTokens.ts";

/**
 * The forced tokens, each removable, and the outputs with and without them. Where they are far below
 * the candidates, the page is scrolled to them after one more was forced.
 */
export function createForcedTokens(context: TraceContext): Part {
  const { say, act } = context;
  const chips = element("div", { class: "chips", testid: "forced" });
  const reset = buttonElement(
    () => act.reset(),
    { class: "quiet", testid: "original-path" },
    say("original_path"),
  );
  const outputs = element("div", { class: "outputs", testid: "outputs" });
  const node = element(
    "section",
    { class: "forced-tokens", "aria-label": say("forced_steps") },
    chips,
    reset,
    outputs,
  );
  let before = context.trace.header.view.forced.length;
  const drawChips = () => {
    const { forced } = context.trace.header.view;
    chips.replaceChildren(...forced.map(([step, token]) => chip(context, step, token)));
  };
  const draw = () => {
    const { view, facts, original } = context.trace.header; // a trace in words has its own original
    const hidden = context.state.guess !== null; // they tell what comes
    node.hidden = view.forced.length === 0 || Boolean(facts.given) || hidden;
    if (view.forced.length === 0) before = 0;
    if (node.hidden) return;
    reset.hidden = !context.state.whatIf; // a saved page has no model to decode with
    drawOutputs(context, outputs, original ?? view.original);
    const more = view.forced.length > before;
    before = view.forced.length;
    if (more && context.root.dataset.narrow !== undefined)
      requestAnimationFrame(() => scrollIntoSight(context.root, node));
  };
  return { element: node, views: [drawChips, draw] };
}

/**
 * A forced token with its step.
 * @param step of the pieces
 */
function chip({ say, act, state, trace, pieces }: TraceContext, step: number, token: string) {
  const mask = pieces.masks.indexOf(step - 1) + 1;
  const shown = mask || stepPredicting(trace, step);
  const undo = say(mask ? "unforce_mask" : "unforce", { step: shown });
  const remove = buttonElement(
    () => act.unforce(step),
    { class: "remove", testid: `unforce-${step}`, "aria-label": undo, title: undo },
    "✕",
  );
  const facts = { step: shown, token: labelOf(token) };
  const name = say(mask ? "forced_mask" : "forced_chip", facts);
  remove.hidden = !state.whatIf;
  return element("span", { class: "forced-chip" }, element("bdi", {}, name), remove);
}

/** The original output and the present one, as far as decoded; differences underlined. */
function drawOutputs({ trace, say, state }: TraceContext, parent: HTMLElement, original: string[]) {
  parent.hidden = original.length === 0;
  if (parent.hidden) return;
  const first = Math.max(trace.prompt - 1, 0);
  const shown = state.ahead ? Infinity : Math.max(state.step - first, 0);
  const [before, now] = [original, trace.predicted].map((tokens) => tokens.slice(first));
  const [inBefore, inNow] = commonTokens(before, now);
  parent.replaceChildren(
    outputLine(say("output_original"), before, inBefore, shown),
    outputLine(say("output_now"), now, inNow, shown),
  );
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
