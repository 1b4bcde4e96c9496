import { type DrawnPart, element, phasesOf } from "../../dom/js/element.ts";
import { servedPlotly } from "../../dom/js/plotly.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import type { View } from "../../dom/js/store.ts";
import { explainTerms } from "../../dom/js/terms.ts";
import { watchEverything } from "../../page/js/everything.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import type { ShownMoment } from "../../page/js/pictureOnPage.ts";
import { projectorChosen, showProjector } from "../../page/js/projector.ts";
import type { View as Mounted } from "../../page/js/streamlitComponent.ts";
import { watchSize, watchTheme } from "../../page/js/watchers.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { addressed, createAddress } from "./address.ts";
import { followMoment, placeTraining } from "./classMoment.ts";
import { createComparisonTable } from "./comparisonTable.ts";
import { panelsOf } from "./curvePanels.ts";
import { createCurves } from "./curves.ts";
import { createDrawer } from "./drawer.ts";
import { createHeadKey } from "./headKey.ts";
import { createLessonMoment } from "./lessonMoment.ts";
import { createMomentSlider } from "./momentSlider.ts";
import { createMomentsDialog } from "./momentsDialog.ts";
import { createMomentText } from "./momentText.ts";
import { createPictureGuess, guessFor } from "./pictureGuess.ts";
import { createProbe } from "./probe.ts";
import { servedProbe } from "./probeTraces.ts";
import { createProgress } from "./progress.ts";
import {
  createReplayContext,
  type ReplayContext,
  type ReplayListeners,
  type ReplaySource,
  type ReplayState,
} from "./replayContext.ts";
import { learnsSentences, nearestMoment, type RunData } from "./runData.ts";
import { createSamples } from "./samples.ts";

type ReplayPart = DrawnPart & { destroy?: () => void };

type LastView = Omit<ReplayState, "at" | "playing" | "projector" | "guess"> & {
  key: string;
  step: number;
  probe: Partial<TraceState>;
};

const SERVED: ReplaySource = { probe: servedProbe, plotly: servedPlotly }; // the app's server

let lastView: LastView | null = null; // what was shown before the page mounted the replay anew

/** Show a run. */
export function mountTrainingReplay(
  parent: HTMLElement | ShadowRoot,
  run: RunData,
  listeners: ReplayListeners,
  source: ReplaySource = SERVED,
): Mounted<RunData, ReplayListeners> & { follow: (shown: ShownMoment) => void } {
  const abort = new AbortController();
  const root = element("div", {
    class: source.follows ? "player training-replay follows" : "player training-replay",
    testid: "training-replay",
    tabindex: "-1",
  });
  parent.append(root);
  const { signal } = abort;
  const context = createReplayContext({
    root,
    signal,
    run,
    source,
    listeners,
    state: initialState(run),
    opening: { ...lastView?.probe, step: 0, ...headOf(run) },
    palette: watchTheme(root, (palette) => context.give({ palette })),
  });
  explainTerms(root, (key) => fillIn(context.run.player, key), signal);
  const parts = placeParts(context);
  if (!source.follows) {
    const lesson = createLessonMoment(context);
    root.querySelector(".curve-side")?.append(lesson.element);
    parts.unshift(lesson); // the others draw the moment of the card
    parts.push(createAddress(context));
    placeTraining(context);
  }
  watchSize(root, signal, context.screen.measure);
  listenToKeys(context);
  watchEverything(root, signal, context.screen.measure);
  window.addEventListener("popstate", () => showAddressed(context), { signal });
  context.screen.show(phasesOf(parts));
  context.screen.flush();
  loadPlotly(context);
  return {
    listen: (next) => {
      context.listeners = next;
    },
    update: (next) => showRun(context, next),
    follow: (shown) => followMoment(context, shown),
    destroy: () => {
      lastView = viewOf(context);
      abort.abort();
      context.act.pause();
      context.screen.stop();
      for (const part of parts) part.destroy?.();
      root.remove();
    },
  };
}

/**
 * Make every part and put it in its place.
 * @returns in the order of drawing
 */
function placeParts(context: ReplayContext): ReplayPart[] {
  const probe = createProbe(context);
  const progress = createProgress(context);
  const text = createMomentText(context);
  const guess = createPictureGuess(context);
  const curves = createCurves(context, panelsOf(context.run), () => 1, "main-curves");
  const below = learnsSentences(context.run) ? createSamples(context) : createHeadKey(context);
  const table = createComparisonTable(context);
  const dialog = createMomentsDialog(context);
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
  const top = element(
    "div",
    { class: "replay-top" },
    progress.element,
    text.element,
    guess.element,
  );
  const main = element("div", { class: "replay-main" }, top, body, slider.element);
  context.root.append(main, drawer.element, dialog.element);
  const whole = { views: [...rootViews(context), ...traceViews(context)] };
  return [whole, progress, probe, text, guess, below, table, curves, slider, drawer, dialog];
}

/** Name the run, and say whether its texts are those of a projector. */
function rootViews(context: ReplayContext): View[] {
  const { root } = context;
  const nameRun = () => {
    root.dataset.run = context.run.name;
  };
  return [nameRun, () => showProjector(root, context.state.projector)];
}

/** The probe trace of the selected moment, and of the others what is not here yet. */
function traceViews(context: ReplayContext): View[] {
  const { source, traces } = context;
  const request = () => {
    const { run, state } = context;
    const [moments, at] = source.follows
      ? [run.moments.slice(state.at, state.at + 1), 0]
      : [run.moments, state.at];
    traces.request(moments, at);
  };
  const take = () => {
    const moment = context.run.moments[context.state.at];
    context.give({ trace: moment ? traces.get(moment.probe) : false });
  };
  return [request, take];
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
    guess: guessFor(run),
  };
}

/** What is shown when the replay is taken off the page. */
function viewOf({ run, state, picture }: ReplayContext): LastView {
  const { at, headChosen, hinted } = state;
  const following = state.following || at === run.moments.length - 1;
  return {
    key: run.key,
    step: run.moments[at]?.step ?? 0,
    following,
    headChosen,
    hinted,
    probe: { ...picture?.state },
  };
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
  if (head) context.act.chooseHead(head.layer, head.head);
}

/** The head in the URL, if it is of this run. */
function headOf(run: RunData) {
  const { head } = addressed(run);
  return head && { site: run.site, ...head };
}

/** The curves appear when Plotly is loaded; without it the slider and the probe still work. */
async function loadPlotly(context: ReplayContext) {
  try {
    context.give({ plotly: await context.source.plotly() });
  } catch {
    return; // the map of the probe shows the message
  }
}
