import type { Part } from "../../dom/js/element.ts";
import { drawParts, element } from "../../dom/js/element.ts";
import type { Plotly } from "../../dom/js/plotly.ts";
import { servedPlotly } from "../../dom/js/plotly.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { anyOf, createScreen, createStore } from "../../dom/js/store.ts";
import type { ShownMoment } from "../../page/js/classEvents.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import { projectorChosen, showProjector } from "../../page/js/projector.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { watchSize, watchTheme } from "../../page/js/watchers.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { addressed, createAddress } from "./address.ts";
import { createClassMoment, followMoment } from "./classMoment.ts";
import { createComparisonTable } from "./comparisonTable.ts";
import { panelsOf } from "./curvePanels.ts";
import { createCurves } from "./curves.ts";
import { createDrawer } from "./drawer.ts";
import { createHeadKey } from "./headKey.ts";
import { createMomentSlider } from "./momentSlider.ts";
import { createMomentsDialog } from "./momentsDialog.ts";
import { createMomentText } from "./momentText.ts";
import type { ProbePart } from "./probe.ts";
import { createProbe } from "./probe.ts";
import type { FetchProbe } from "./probeTraces.ts";
import { createProbeTraces, servedProbe } from "./probeTraces.ts";
import { createProgress } from "./progress.ts";
import type {
  Given,
  HeadChoice,
  ReplayActions,
  ReplayContext,
  ReplayListeners,
  ReplayState,
} from "./replayContext.ts";
import type { RunData } from "./runData.ts";
import { nearestMoment } from "./runData.ts";
import { createSamples } from "./samples.ts";

export type ReplayPart = Part & { destroy?: () => void };

export interface ReplaySource {
  probe: FetchProbe;
  plotly: () => Promise<Plotly>;
  /**
   * whether it follows that of a host: it writes no address, and fetches
   * the probe trace of the selected moment alone
   */
  follows?: boolean;
}

export type LastView = Omit<ReplayState, "at" | "playing" | "projector"> & {
  key: string;
  step: number;
  probe: Partial<TraceState>;
};

const PLAY_SECONDS = 6; // a whole training takes about this long,
const PLAY_PACE = [60, 700]; // ms a moment, at least and at most

const SERVED: ReplaySource = { probe: servedProbe, plotly: servedPlotly }; // the app's server

/** What the names of changes were called; until every part is tracked. */
const TOUCHED: Record<string, string> = { palette: "theme", plotly: "size" };

let lastView: LastView | null = null; // what was shown before the page mounted the replay anew

/** Show a run. */
export function mountTrainingReplay(
  parent: HTMLElement | ShadowRoot,
  run: RunData,
  listeners: ReplayListeners,
  source: ReplaySource = SERVED,
): View<RunData, ReplayListeners> & { follow: (shown: ShownMoment) => void } {
  const abort = new AbortController();
  const root = element("div", {
    class: source.follows ? "player training-replay follows" : "player training-replay",
    testid: "training-replay",
    tabindex: "-1",
  });
  parent.append(root);
  const parts: ReplayPart[] = [];
  const context = createContext(root, abort.signal, run, source, (changed) => {
    if (changed.has("run")) root.dataset.run = context.run.name;
    if (changed.has("projector")) showProjector(root, context.state.projector);
    if (anyOf(changed, "run", "at")) requestTraces(context, source);
    if (changed.has("head")) context.give({ selected: probe.selected() });
    drawParts([...parts, ...reports], changed, context.screen);
  });
  const probe = createProbe(context);
  context.listeners = listeners;
  context.chooseHead = (layer, head) => {
    context.set({ headChosen: true });
    probe.choose({ site: "cross", layer, head });
  };
  parts.push(...placeParts(context, probe));
  const reports = source.follows ? [] : [createAddress(context), createClassMoment(context, probe)];
  watchSize(
    root,
    abort.signal,
    (top) => top,
    () => context.give({ size: context.size + 1 }),
  );
  listenToKeys(context, { p: () => context.set({ projector: !context.state.projector }) });
  const { signal } = abort;
  window.addEventListener("popstate", () => showAddressed(context), { signal });
  context.touch(...Object.keys(context.state), "run", "theme", "size", "head");
  context.screen.flush();
  loadPlotly(context);
  return {
    listen: (next) => {
      context.listeners = next;
    },
    update: (next) => {
      showRun(context, next);
      if (document.hidden) context.screen.flush(); // without frames: a class may follow it
    },
    follow: (shown) => followMoment(context, probe, shown),
    destroy: () => {
      lastView = viewOf(context, probe);
      abort.abort();
      context.act.pause();
      context.screen.stop();
      for (const part of parts) part.destroy?.();
      root.remove();
    },
  };
}

function createContext(
  root: HTMLElement,
  signal: AbortSignal,
  run: RunData,
  source: ReplaySource,
  draw: (changed: Set<string>) => void,
): ReplayContext {
  const screen = createScreen(draw);
  const { values: state, set } = createStore(initialState(run), (names) => screen.touch(...names));
  const palette = watchTheme(root, (next) => {
    context.give({ palette: next });
  });
  const onTrace = (address: string) => {
    context.touch("traces");
    if (context.run.moments[context.state.at]?.probe === address) context.touch("probe");
  };
  const nothing = { plotly: null, selected: null, size: 0 };
  const given = createStore({ run, palette, ...nothing } as Given, (names) =>
    screen.touch(...names, ...names.flatMap((name) => TOUCHED[name] ?? [])),
  );
  const parts: Omit<ReplayContext, "act" | keyof Given> = {
    root,
    signal,
    state,
    set,
    give: given.set,
    screen,
    touch: screen.touch,
    loadPlotly: source.plotly,
    say: (key, facts) => fillIn(context.run.strings, key, facts),
    traces: createProbeTraces(onTrace, signal, source.probe),
    range: () => [0, lastStep(context)],
    expected: () => expectedMoments(context),
    listeners: { onLink: () => {}, onCell: () => {} },
    chooseHead: () => {},
    lastProbe: () => ({ ...lastView?.probe, ...crossHead(addressed(context.run).head) }),
  };
  const context = parts as ReplayContext;
  Object.defineProperties(context, Object.getOwnPropertyDescriptors(given.values));
  context.act = createReplayActions(context);
  return context;
}

function requestTraces({ run, state, traces }: ReplayContext, { follows }: ReplaySource) {
  const [moments, at] = follows
    ? [run.moments.slice(state.at, state.at + 1), 0]
    : [run.moments, state.at];
  traces.request(moments, at);
}

/**
 * Make every part and put it in its place.
 * @returns in the order of drawing
 */
function placeParts(context: ReplayContext, probe: ProbePart): ReplayPart[] {
  const progress = createProgress(context);
  const text = createMomentText(context);
  const { translates } = context.run;
  const curves = createCurves(context, panelsOf(context.run), () => 1, "main-curves");
  const below = translates ? createSamples(context) : createHeadKey(context);
  const table = createComparisonTable(context);
  const dialog = createMomentsDialog(context, probe.picture);
  const slider = createMomentSlider(context, dialog.opener);
  const drawer = createDrawer(context);
  const side = element(
    "div",
    { class: "curve-side" },
    curves.element,
    below.element,
    table.element,
  );
  const body = element("div", { class: "replay-body" }, side, probe.element);
  const top = element("div", { class: "replay-top" }, progress.element, text.element);
  const main = element("div", { class: "replay-main" }, top, body, slider.element);
  context.root.append(main, drawer.element, dialog.element);
  return [progress, probe, text, below, table, curves, slider, drawer, dialog];
}

/** What is shown first: the newest moment and, while the training goes on, each newer one. */
function initialState(run: RunData): ReplayState {
  const { going } = run.report;
  const kept = lastView?.key === run.key && !lastView.following ? lastView : null; // nothing moves under the pointer
  const linked = addressed(run);
  const at = kept ? nearestMoment(run.moments, kept.step) : linked.at;
  return {
    at: at ?? run.moments.length - 1,
    following: going && at === null,
    headChosen: (lastView?.key === run.key && lastView.headChosen) || linked.head !== null,
    playing: false,
    hinted: lastView?.hinted ?? false,
    projector: projectorChosen(),
  };
}

/** What is shown when the replay is taken off the page. */
function viewOf({ run, state }: ReplayContext, probe: ProbePart): LastView {
  const { at, headChosen, hinted } = state;
  const following = state.following || at === run.moments.length - 1;
  return {
    key: run.key,
    step: run.moments[at]?.step ?? 0,
    following,
    headChosen,
    hinted,
    probe: probe.shown(),
  };
}

/**
 * The right end of the step axis, as of the progress bar and the slider: the last step that is
 * planned, or of a run that is done, the last one that was made.
 */
function lastStep({ run }: ReplayContext) {
  const own = isDone(run) ? (run.moments.at(-1)?.step ?? run.steps) : run.steps;
  return Math.max(own, ...run.others.map(({ moments }) => moments.at(-1)?.step ?? 0), 1);
}

/** How many moments there are or, as long as the training is not done, will be. */
function expectedMoments({ run }: ReplayContext) {
  const count = run.moments.length;
  return isDone(run) ? count : Math.max(count, Math.ceil(run.steps / run.every));
}

function isDone({ report }: RunData) {
  return report.state === "done";
}

/** Show the same run a little later, or another run. */
function showRun(context: ReplayContext, next: RunData) {
  const { run: before, state } = context;
  const step = before.moments[state.at]?.step ?? 0;
  context.give({ run: next });
  if (before.key !== next.key) {
    context.act.pause();
    context.set({ ...initialState(next), hinted: state.hinted, projector: state.projector });
    chooseAddressedHead(context);
  } else {
    const wasLast = state.at === before.moments.length - 1;
    const begins = next.report.going && !before.report.going;
    const following = next.report.going && (state.following || (begins && wasLast));
    const at =
      state.following || following ? next.moments.length - 1 : nearestMoment(next.moments, step);
    context.set({ at, following });
  }
}

/** After Back or Forward, the moment and the head in the URL, if it is of this run. */
function showAddressed(context: ReplayContext) {
  const { at } = addressed(context.run);
  if (at !== null) context.act.goTo(at);
  chooseAddressedHead(context);
}

function chooseAddressedHead(context: ReplayContext) {
  const { head } = addressed(context.run);
  if (head) context.chooseHead(head.layer, head.head);
}

function crossHead(head: HeadChoice | null) {
  return head && { site: "cross" as const, ...head };
}

/** What the visitor can do, by button, slider, curve or key. */
function createReplayActions(context: ReplayContext): ReplayActions {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const last = () => context.run.moments.length - 1;
  const pause = () => {
    clearInterval(timer);
    context.set({ playing: false });
  };
  const show = (index: number) => {
    if (last() < 0) return;
    context.set({ at: Math.max(0, Math.min(last(), index)), following: false, hinted: true });
  };
  const goTo = (index: number) => {
    pause();
    show(index);
  };
  const tick = () => {
    if (context.state.at >= last()) pause();
    else show(context.state.at + 1);
  };
  const play = () => {
    if (context.state.playing) {
      pause();
      return;
    }
    if (last() < 1) return;
    if (context.state.at >= last()) show(0);
    const pace = (PLAY_SECONDS * 1000) / (last() + 1);
    timer = setInterval(tick, Math.min(Math.max(pace, PLAY_PACE[0]), PLAY_PACE[1]));
    context.set({ playing: true });
  };
  const follow = () => {
    if (!context.run.report.going) return;
    pause();
    context.set({ following: true, at: last() });
  };
  return {
    goTo,
    play,
    pause,
    follow,
    first: () => goTo(0),
    last: () => goTo(last()),
    previous: () => goTo(context.state.at - 1),
    next: () => goTo(context.state.at + 1),
  };
}

/** The curves appear when Plotly is loaded; without it the slider and the probe still work. */
async function loadPlotly(context: ReplayContext) {
  try {
    context.give({ plotly: await context.loadPlotly() });
  } catch {
    // the map of the probe shows the message
  }
}
