import { highlighted, onHighlight, onLook } from "../../shared/js/lessonEvents.js";
import { openingState } from "../../shared/js/openingState.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { TraceState } from "../../shared/js/openingState.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */

const MARK = "data-highlighted";

/**
 * Show the part of the trace that a lesson asks for, as its link would.
 * @param {TraceContext} context
 * @param {(state: TraceState) => void} show
 */
export function followLesson(context, show) {
  onLook((look) => {
    const { pieces, state } = context;
    const before = { ...state, words: false, temperature: 1, guess: null, inside: null };
    const view = { ...pieces.header.view, ...look, guess: Boolean(look.guess) };
    show(openingState(pieces, view, before));
  }, context.signal);
  onHighlight(() => context.touch("highlight"), context.signal);
}

/**
 * The outline around what a lesson speaks of, which is scrolled into view once. It is drawn last:
 * the element may have just been made.
 * @param {TraceContext} context
 * @returns {Pick<Part, "update">}
 */
export function createHighlight({ root }) {
  /** @type {Element | null} */
  let marked = null;
  let seen = ""; // the name of what was scrolled into view
  const update = (/** @type {Set<string>} */ changed) => {
    const name = highlighted();
    if (changed.has("highlight")) seen = "";
    if (!name && !marked) return;
    const found = name ? root.querySelector(`[data-testid="${CSS.escape(name)}"]`) : null;
    if (found !== marked) marked?.removeAttribute(MARK);
    marked = found;
    marked?.setAttribute(MARK, "");
    if (!marked || seen === name || !marked.checkVisibility()) return;
    seen = name;
    marked.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  return { update };
}
