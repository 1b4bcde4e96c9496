import { type DrawnPart, phasesOf } from "../../dom/js/element.ts";
import type { Plotly } from "../../dom/js/plotly.ts";
import { fillIn, type Say, type Strings } from "../../dom/js/sentences.ts";
import {
  createScreen,
  createStore,
  measured,
  type Screen,
  type Store,
  withValues,
} from "../../dom/js/store.ts";
import { type LessonQuestions, NOTHING } from "../../page/js/lessonOnPage.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { Palette } from "../../page/js/palette.ts";
import { type Actions, createActions, type GoTo } from "./actions.ts";
import type { TraceState } from "./initialState.ts";
import type { Change } from "./interventions.ts";
import { simpleName } from "./label.ts";
import type { Selection } from "./look.ts";
import type { IntegrityCheck, Trace } from "./trace.ts";
import type { ServerlessResources } from "./traceQuestions.ts";
import { inUnit } from "./unitChoice.ts";

/** How to get Plotly, and the listeners of the app. */
export interface TraceOptions {
  plotly: () => Promise<Plotly>;
  goTo?: GoTo; // what a row that is clicked does, in the place of showing its step
  onState?: (selection: Selection) => void;
  /** alone: the tokens at other steps stay */
  onForce?: (step: number, id: number, alone: boolean) => void;
  onUnforce?: (step: number) => void;
  onChange?: (change: Change) => void; // of the model
  onReset?: () => void;
  onMissing?: () => void; // called when the server has dropped this trace
  resources?: ServerlessResources; // what answers about traces, where no server does
  alone?: boolean; // no page around the player has the switch between Simple and Everything
}

/** What is drawn, beside what the visitor chose of it. */
export interface Given {
  pieces: Trace; // as it was read
  generation: number; // changes with the trace; zoom is kept within one
  palette: Palette;
  integrity: IntegrityCheck[] | null; // null until it is checked
  plotly: Plotly | null; // once it is loaded
}

/** A trace, what is shown of it, and what can be done: all parts that draw it share one. */
export interface TraceContext extends Readonly<Given> {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the component is destroyed
  options: TraceOptions;
  readonly trace: Trace; // in the unit on screen
  readonly asked: LessonQuestions; // by a lesson
  readonly inLesson: boolean; // whether the page has the card of one
  readonly classVotes: boolean; // on what is hidden, in the place of who guesses alone
  state: Readonly<TraceState>; // what the visitor chose
  set: Store<TraceState>["set"];
  give: Store<Given>["set"];
  screen: Screen;
  narrow: () => boolean; // whether there is room for one column only
  width: () => number; // of the component, px
  beside: TraceContext[]; // of the maps that stand beside this one, in equal rectangles
  say: Say;
  act: Actions;
}

/** @param given.state what is shown first */
export function createTraceContext({
  pieces,
  palette,
  state: initial,
  strings,
  ...own
}: Pick<TraceContext, "root" | "signal" | "options" | "pieces" | "palette"> & {
  state: TraceState;
  strings: () => Strings;
}): TraceContext {
  const screen = createScreen();
  const { values: state, set } = createStore(initial);
  const { integrity } = pieces.header;
  const nothing = { generation: 0, plotly: null };
  const given = createStore<Given>({ pieces, palette, integrity, ...nothing });
  const parts: Omit<TraceContext, "act" | keyof Given> = {
    ...own,
    options: { ...own.options },
    state,
    set,
    give: given.set,
    screen,
    narrow: measured(() => own.root.dataset.narrow !== undefined),
    width: measured(() => own.root.clientWidth),
    beside: [],
    say: (key, facts) => simpleName(key) ?? fillIn(strings(), key, facts),
    get trace() {
      return inUnit(given.values.pieces, state.words);
    },
    get asked() {
      return onPage.lesson?.asked() ?? NOTHING;
    },
    get inLesson() {
      return onPage.lesson !== null;
    },
    get classVotes() {
      return onPage.classVotes;
    },
  };
  const context = withValues(parts, given.values) as TraceContext;
  context.act = createActions(context);
  return context;
}

/** Show other pieces; `generation` where nothing of the zoom is kept. */
export function givePieces(context: TraceContext, pieces: Trace, another = true) {
  const generation = context.generation + (another ? 1 : 0);
  context.give({ pieces, generation, integrity: pieces.header.integrity });
}

/** Draw these parts, now and whenever what they read changes. */
export function drawAll(context: TraceContext, parts: DrawnPart[]) {
  context.screen.show(phasesOf(parts));
  context.screen.flush();
}
