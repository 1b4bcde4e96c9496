import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { whenOther } from "../../dom/js/store.ts";
import { labelOf } from "../../trace/js/label.ts";
import { currentRow } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/**
 * A question below the candidate that a finger touched: whether to write it from here on. A finger
 * touches by mistake, and finds no hover text that says what happens.
 */
export function createForceQuestion(context: TraceContext): Part & {
  /** Force a token at the current step, of a finger's touch only when it is confirmed. */
  force: (button: HTMLElement, id: number, token: string) => void;
} {
  const { say, state, act } = context;
  let wanted: number | null = null;
  const sentence = element("p", { role: "status" });
  const yes = () => {
    const id = wanted;
    end();
    if (id !== null) act.force(state.step, id);
  };
  const end = () => {
    wanted = null;
    node.remove();
  };
  const node = element(
    "div",
    { class: "force-question row wrap", testid: "force-question" },
    sentence,
    buttonElement(yes, { testid: "force-yes" }, say("force_yes")),
    buttonElement(end, { testid: "force-no" }, say("force_no")),
  );
  const force = (button: HTMLElement, id: number, token: string) => {
    if (!window.matchMedia("(pointer: coarse)").matches) return act.force(state.step, id);
    if (wanted === id) return end(); // another touch takes it back
    wanted = id;
    const { candidates, masks } = context.trace;
    const chosen = candidates[currentRow(context)].find((one) => one.chosen);
    const facts = { token: labelOf(token), other: labelOf(chosen?.token ?? "") };
    button.after(node);
    write(sentence, say(masks.length ? "force_mask_ask" : "force_ask", facts));
  };
  const place = () => [state.step, state.guess, state.site, context.trace];
  return { element: node, views: [whenOther(place, end)], force };
}
