import { flagsOf } from "./initialState.js";
import { FIELDS, FLAGS } from "./look.js";
import { shownCell } from "./stepState.js";
import { anyOf } from "./store.js";
import { offers } from "./traceQuestions.js";
import { pieceStep, stepOfApp } from "./unitChoice.js";

/** @import { Selection } from "./look.js" */
/** @import { TraceContext } from "./traceContext.js" */

const REPORTED = FIELDS.flatMap(({ state }) => state ?? []);
const REST = 500; // ms
const AT_ONCE = ["guess", "alignment", ...FLAGS]; // else the next text would open as it was before

/**
 * Report to the app what is shown, after a rest and only when it differs from the last report.
 * @param {TraceContext} context
 * @param {object} [given]
 * @param {() => object} [given.more] of the selection that is not in the context
 * @param {number} [given.rest] ms without a change before it is reported
 * @returns {(changed: Set<string>) => void}
 */
export function createSelectionReport(context, { more = () => ({}), rest = REST } = {}) {
  let reported = "";
  let opened = ""; // with what the latest text opened, which the app knows too
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  context.signal.addEventListener("abort", () => clearTimeout(timer));
  return (changed) => {
    if (!anyOf(changed, ...REPORTED)) return;
    clearTimeout(timer);
    const selection = { ...selectionOf(context), ...more() };
    const text = JSON.stringify(selection);
    if (!opened || changed.has("trace")) opened = text;
    reported ||= opened;
    const report = () => {
      if (text === reported && text === opened) return;
      reported = opened = text;
      context.options.onState?.(selection);
    };
    if (anyOf(changed, ...AT_ONCE)) report();
    else timer = setTimeout(report, rest);
  };
}

/**
 * What the visitor looks at, as the app names it.
 * @param {TraceContext} context
 * @returns {Selection}
 */
export function selectionOf(context) {
  const { site, layer, head, shows, alignment, guess, ahead, insideView, nextView } = context.state;
  const byHeads = nextView === "heads" && offers(context, "attribution");
  const cell = context.trace.rows ? null : shownCell(context);
  return {
    site,
    layer,
    head: head < 0 ? null : head,
    step: reportedStep(context) || null,
    alignment: alignment === "off" ? null : alignment,
    guess: guess === null ? null : true,
    ahead: guess === null ? ahead : null,
    cell: cell && [cell.query, cell.key],
    inside: cell && insideView !== "cell" ? insideView : null,
    shows: shows === "weight" ? null : shows,
    next: byHeads ? "heads" : null,
    ...flagsOf((name) => context.state[name] || null),
  };
}

/**
 * The current step as the app counts; 0 for none.
 * @param {TraceContext} context
 */
function reportedStep(context) {
  const { pieces, state } = context;
  return pieces.masks.length ? stepOfApp(context, state.step) : pieceStep(context);
}
