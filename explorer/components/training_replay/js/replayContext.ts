import type { Plotly } from "../../dom/js/plotly.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import {
  createScreen,
  createStore,
  type Screen,
  type Store,
  untracked,
  withValues,
} from "../../dom/js/store.ts";
import type { Palette } from "../../page/js/palette.ts";
import type { Picture } from "../../page/js/smallPicture.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import type { SiteName, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createProbeTraces, type FetchProbe, type ProbeTraces } from "./probeTraces.ts";
import { createReplayActions, type ReplayActions } from "./replayActions.ts";
import type { RunData } from "./runData.ts";

export interface ReplayState {
  at: number; // index of the selected moment; −1 without moments
  following: boolean; // whether each new moment is selected
  headChosen: boolean; // whether the visitor chose a head of this run
  playing: boolean;
  hinted: boolean;
  projector: boolean;
  guess: Picture | null | undefined; // of what forms; null: skipped, undefined: not yet asked
}

export type HeadChoice = { layer: number; head: number };

export interface ReplayListeners {
  /**
   * called when the visitor follows the link of the run; a plain link
   * would load the page anew, as a new visitor
   */
  onLink: () => void;
  /**
   * called when the visitor asks how the weight of a cell of the probe
   * is computed; `text` is the input
   */
  onCell: (cell: {
    site: SiteName;
    layer: number;
    head: number;
    query: number;
    key: number;
    text: string;
  }) => void;
}

/** What is drawn, beside what the visitor chose of it. */
export interface Given {
  run: RunData;
  /** of the selected moment: null while it is loading, false where there is none */
  trace: Trace | null | false;
  picture: TraceContext | null; // that draws it, from the first trace on
  palette: Palette;
  plotly: Plotly | null; // once it is loaded
}

/** Where the replay gets what it draws. */
export interface ReplaySource {
  probe: FetchProbe;
  plotly: () => Promise<Plotly>;
  /**
   * whether it follows that of a host: it writes no address, and fetches
   * the probe trace of the selected moment alone
   */
  follows?: boolean;
}

/** What every part of the training replay reads and can do. */
export interface ReplayContext extends Readonly<Given> {
  root: HTMLElement;
  signal: AbortSignal; // aborted when the replay is destroyed
  state: Readonly<ReplayState>; // what the visitor chose
  set: Store<ReplayState>["set"];
  give: Store<Given>["set"];
  screen: Screen;
  source: ReplaySource;
  say: Say;
  sayOfPlayer: Say;
  traces: ProbeTraces;
  range: () => [number, number]; // of the step axis
  expected: () => number; // how many moments there are or, during the training, will be
  act: ReplayActions;
  listeners: ReplayListeners;
  readonly selected: HeadChoice | null; // of the probe, if its gold weight is drawn
  choose: (patch: Partial<TraceState>) => void; // of the probe, now or when its picture comes
  opening: () => Partial<TraceState>; // what was chosen before there is a picture
}

/** @param given.opening what the probe shows first */
export function createReplayContext({
  run,
  palette,
  state: initial,
  opening,
  ...own
}: Pick<ReplayContext, "root" | "signal" | "source" | "listeners" | "run" | "palette"> & {
  state: ReplayState;
  opening: Partial<TraceState>;
}): ReplayContext {
  const screen = createScreen();
  const { values: state, set } = createStore(initial);
  const nothing = { trace: false as const, picture: null, plotly: null };
  const { values: given, set: give } = createStore<Given>({ run, palette, ...nothing });
  let first = opening;
  const parts: Omit<ReplayContext, "act" | keyof Given> = {
    ...own,
    state,
    set,
    give,
    screen,
    // its sentences are the same in every state of the run
    say: (key, facts) => fillIn(untracked(() => given.run).strings, key, facts),
    sayOfPlayer: (key, facts) => fillIn(untracked(() => given.run).player, key, facts),
    traces: createProbeTraces(own.signal, own.source.probe),
    range: () => [0, lastStep(given.run)],
    expected: () => expectedMoments(given.run),
    choose: (patch) => {
      first = { ...first, ...patch };
      given.picture?.set(patch);
    },
    opening: () => first,
    get selected() {
      return selectedHead(given);
    },
  };
  const context = withValues(parts, given) as ReplayContext;
  context.act = createReplayActions(context);
  return context;
}

function selectedHead({ run, picture }: Given): HeadChoice | null {
  if (picture?.state.site !== run.site) return null;
  const { layer, head } = picture.state;
  return { layer, head };
}

/**
 * The right end of the step axis, as of the progress bar and the slider: the last step that is
 * planned, or of a run that is done, the last one that was made.
 */
function lastStep(run: RunData) {
  const own = isDone(run) ? (run.moments.at(-1)?.step ?? run.steps) : run.steps;
  return Math.max(own, ...run.others.map(({ moments }) => moments.at(-1)?.step ?? 0), 1);
}

/** How many moments there are or, as long as the training is not done, will be. */
function expectedMoments(run: RunData) {
  const count = run.moments.length;
  return isDone(run) ? count : Math.max(count, Math.ceil(run.steps / run.every));
}

function isDone({ report }: RunData) {
  return report.state === "done";
}
