import type { View } from "../../dom/js/store.ts";
import { pictureMark } from "../../page/js/envelope.ts";
import type { StreamlitArguments } from "../../page/js/streamlitComponent.ts";
import { asksFirst } from "./guess.ts";
import { flagsOf } from "./initialState.ts";
import { FLAGS, type Selection } from "./look.ts";
import { shownCell } from "./stepState.ts";
import type { TraceContext } from "./traceContext.ts";
import { offers } from "./traceQuestions.ts";
import { pieceStep, stepOfApp } from "./unitChoice.ts";

const REST = 500; // ms
/** Reported at once: else the next text would open as it was before. */
const AT_ONCE = ["guess", "alignment", ...FLAGS] as const;

/**
 * Report to the app what is shown, after a rest and only when it differs from the last report.
 * @param more of the selection that is not in the context
 */
export function createSelectionReport(
  context: TraceContext,
  more: () => object = () => ({}),
): View {
  let reported = "";
  let opened = ""; // with what the latest text opened, which the app knows too
  let timer: ReturnType<typeof setTimeout> | undefined;
  context.signal.addEventListener("abort", () => clearTimeout(timer));
  let before: { trace: object; chosen: unknown[] } = { trace: {}, chosen: [] };
  return () => {
    clearTimeout(timer);
    const { trace, state } = context;
    const chosen = AT_ONCE.map((name) => state[name]);
    const another = trace !== before.trace;
    const choice = chosen.some((value, index) => value !== before.chosen[index]);
    before = { trace, chosen };
    const selection = { ...selectionOf(context), ...more() };
    const text = JSON.stringify(selection);
    if (another) opened = text;
    reported ||= opened;
    const report = () => {
      if (text === reported && text === opened) return;
      reported = opened = text;
      context.options.onState?.(selection);
    };
    if (choice) report();
    else timer = setTimeout(report, REST);
  };
}

/** The listeners that tell Streamlit what is shown, and that the server has dropped the trace. */
export function streamlitReports({ data, setStateValue, setTriggerValue }: StreamlitArguments) {
  return {
    onState: (selection: Selection) =>
      setStateValue("selection", { ...selection, picture: pictureMark(data) }),
    onMissing: () => setTriggerValue("missing", true),
  };
}

/** What the visitor looks at, as the app names it. */
export function selectionOf(context: TraceContext): Selection {
  const { site, layer, head, shows, alignment, guess, ahead, insideView, nextView } = context.state;
  const guessing = guess !== null && !asksFirst(context.state); // which nobody but this person is asked
  const byHeads = nextView === "heads" && offers(context, "attribution");
  const cell = context.trace.rows ? null : shownCell(context);
  return {
    site,
    layer,
    head: head < 0 ? null : head,
    step: reportedStep(context) || null,
    alignment: alignment === "off" ? null : alignment,
    guess: guessing || null,
    ahead: guessing ? null : asksFirst(context.state) || ahead,
    zoom: context.state.zoom,
    cell: cell && [cell.query, cell.key],
    inside: cell && insideView !== "cell" ? insideView : null,
    shows: shows === "weight" ? null : shows,
    next: byHeads ? "heads" : null,
    ...flagsOf((name) => context.state[name] || null),
  };
}

/** The current step as the app counts; 0 for none. */
function reportedStep(context: TraceContext) {
  const { pieces, state } = context;
  return pieces.masks.length ? stepOfApp(context, state.step) : pieceStep(context);
}
