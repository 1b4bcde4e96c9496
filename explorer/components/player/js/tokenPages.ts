import { assign, buttonElement, write } from "../../dom/js/element.ts";
import { createStore, untracked } from "../../dom/js/store.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { nextWindow, type TokenWindow, windowAround } from "./tokenWindow.ts";

const NOTHING: TokenWindow = { first: 0, stop: 0 };

/**
 * Which tokens of a long text a strip has: those around the one in view, and buttons that turn to the
 * others, until another token comes into view.
 * @param given.name of the strip
 * @param given.count of all its tokens
 * @param given.inView position of the token in view; −1 = none
 * @param given.turned called when a button has turned to later or to earlier tokens
 */
export function createTokenPages(
  context: TraceContext,
  {
    name,
    count,
    inView,
    turned,
  }: {
    name: string;
    count: () => number;
    inView: () => number;
    turned: (later: boolean) => void;
  },
) {
  const { say } = context;
  const { values, set } = createStore({ shown: NOTHING });
  let generation = -1; // of the tokens that are shown
  const follow = () => {
    const before = generation === context.generation ? untracked(() => values.shown) : NOTHING;
    generation = context.generation;
    set({ shown: windowAround(count(), inView(), before) });
  };
  const turn = (to: boolean) =>
    buttonElement(
      () => {
        set({ shown: nextWindow(count(), values.shown, to) });
        context.screen.flush();
        turned(to);
      },
      { class: "quiet", testid: `${name}-${to ? "later" : "earlier"}` },
    );
  const [earlier, later] = [turn(false), turn(true)];
  const draw = () => {
    const { first, stop } = values.shown;
    const after = count() - stop;
    write(earlier, `‹ ${first}`);
    write(later, `${after} ›`);
    earlier.hidden = first === 0;
    later.hidden = after === 0 || context.state.guess !== null; // how long the answer is, is not told
    for (const attribute of ["title", "aria-label"]) {
      assign(earlier, attribute, say("strip_earlier", { count: first }));
      assign(later, attribute, say("strip_later", { count: after }));
    }
  };
  return { earlier, later, follow, draw, shown: () => values.shown };
}
