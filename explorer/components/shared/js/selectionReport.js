import { offers } from "./resources.js";
import { shownCell } from "./stepState.js";
import { anyOf } from "./store.js";
import { pieceStep, stepOfApp } from "./unitChoice.js";

/** @import { Method } from "./contributions.js" */
/** @import { Alignment, InsideView, SiteName } from "./trace.js" */
/** @import { TraceContext } from "./traceContext.js" */

/**
 * @typedef {object} Selection what the visitor looks at
 * @property {SiteName} site
 * @property {number} layer
 * @property {number | null} head null for the mean of the layer
 * @property {number | null} step of the pieces, of a mask token its position from 1; null where
 *   there are no steps
 * @property {Alignment | null} alignment null without links
 * @property {[number, number] | null} cell query and key of the cell whose arithmetic is shown
 * @property {InsideView | null} inside what is shown of that cell in place of its arithmetic
 * @property {Method | null} shows by which method the large map shows contributions
 * @property {"heads" | null} next what is shown of the next token in place of probabilities
 * @property {true | null} words whether pieces are merged into words
 * @property {true | null} guess whether what comes next is hidden until it is guessed
 * @property {boolean | null} ahead whether rows not yet decoded are shown; null while guessing
 */

const REPORTED = [
  "site",
  "layer",
  "head",
  "shows",
  "step",
  "alignment",
  "guess",
  "ahead",
  "inside",
  "insideView",
  "nextView",
  "words",
];
const REST = 500; // ms
const AT_ONCE = ["guess", "alignment", "words"]; // else the next text would open as it was before

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
    if (context.mirrors) return; // the host's own page reports it
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
  const { site, layer, head, shows, alignment, guess, ahead, insideView, nextView, words } =
    context.state;
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
    words: words || null,
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
