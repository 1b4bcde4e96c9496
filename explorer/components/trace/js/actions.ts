import {
  askFirst,
  asksFirst,
  canGuess,
  endFirst,
  guessAt,
  reveal,
  startGuessing,
} from "./guess.ts";
import { createHeadLoading, type ShowLoaded } from "./headLoading.ts";
import type { TraceState } from "./initialState.ts";
import type { Change } from "./interventions.ts";
import { createStepper } from "./stepper.ts";
import { currentRow, siteOf } from "./stepState.ts";
import type { SiteName } from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";
import { chooseUnit, stepOfApp } from "./unitChoice.ts";
import { zoomWith } from "./zoom.ts";

export type GoTo = (step: number, patch?: Partial<TraceState>) => void;

export type Move = "first" | "previous" | "next" | "last" | "play";

export type Actions = Record<Move | "pause" | "reset", () => void> & {
  goTo: GoTo;
  select: (patch: Partial<TraceState>) => void;
  showLoaded: ShowLoaded;
  chooseSite: (name: SiteName) => void;
  chooseUnit: (name: string) => void;
  force: (step: number, id: number) => void;
  unforce: (step: number) => void;
  change: (change: Change) => void;
  toggleGuess: () => void;
};

const PATIENCE = 5000; // ms after which the dimmed picture is restored without an answer
const PLAY_PACE: [number, number] = [90, 900]; // ms a step, at least and at most

/** What the visitor can do, by button, key or slider. */
export function createActions(context: TraceContext): Actions {
  const { goTo, next, play, pause } = createStepping(context);
  const dim = createDimming(context);
  const showLoaded = createHeadLoading(context);
  const { options } = context;
  /** A head is chosen to look at its weights. */
  const select: Actions["select"] = (given) => {
    const patch = given.head === undefined ? given : { shows: "weight" as const, ...given };
    showLoaded(context.pieces, { ...context.state, ...patch }, () => context.set(patch));
  };
  return {
    goTo: options.goTo ?? goTo,
    first: () => {
      const { guess } = context.state; // from here on a class predicts
      goTo(1, { ahead: false, guess: guess && startGuessing(1, guess.weightsToo, guess.ahead) });
    },
    previous: () => goTo(context.state.step - 1),
    next,
    last: () => goTo(context.trace.steps),
    play,
    pause,
    select,
    showLoaded,
    chooseSite: (name) => chooseSite(context, name),
    chooseUnit: (name) =>
      showLoaded(context.pieces, { ...context.state, words: name === "words" }, () => {
        chooseUnit(context, name === "words");
      }),
    force: (step, id) => {
      if (!options.onForce) return;
      dim();
      const alone = context.trace.masks.length > 0;
      options.onForce(stepOfApp(context, step), id, alone);
    },
    unforce: (step) => {
      if (!options.onUnforce) return;
      dim();
      options.onUnforce(step);
    },
    change: (change) => {
      if (!options.onChange) return;
      dim();
      options.onChange(change);
    },
    reset: () => {
      if (!options.onReset) return;
      dim();
      options.onReset();
    },
    toggleGuess: () => toggleGuess(context),
  };
}

/**
 * Hide what comes next until it is guessed, or end that: what was shown ahead is shown again. From
 * the last step, where everything was on screen, it begins at the first.
 */
function toggleGuess(context: TraceContext) {
  const { state, trace } = context;
  if (trace.predicted.length === 0 || (!state.guess && !canGuess(context))) return;
  context.act.pause();
  const step = state.step >= trace.steps ? 1 : state.step;
  if (state.guess) {
    context.set({ guess: null, ahead: state.guess.ahead });
    return;
  }
  const guess = startGuessing(step, false, state.ahead);
  if (state.site === "encoder" && trace.masks.length === 0)
    context.act.chooseSite(trace.sites.cross ? "cross" : "decoder"); // the encoder predicts nothing
  context.set({ guess, step, ahead: false, hinted: true, hover: null, edit: false });
}

/** Going from step to step, by hand or by playing. */
function createStepping(context: TraceContext) {
  const { state, set } = context;
  const show: GoTo = (step, patch = {}) => {
    const bounded = Math.max(1, Math.min(context.trace.steps, step));
    if (currentRow(context) < 0) return;
    const { guess, firstQuestion } = state;
    const left = firstQuestion && asksFirst(state) ? endFirst(firstQuestion, null) : {};
    const zoom = zoomWith(
      siteOf(context),
      state.zoom,
      currentRow({ trace: context.trace, state: { ...state, step: bounded } }),
    );
    set({
      step: bounded,
      zoom,
      hinted: true,
      guess: guess && guessAt(guess, bounded),
      ...left,
      ...patch,
    });
  };
  const stepper = createStepper({
    state,
    set,
    count: () => context.trace.steps,
    pace: PLAY_PACE,
    begin: () => {
      if (currentRow(context) < 0) return false;
      if (state.step >= context.trace.steps) show(1, { ahead: false });
      return true;
    },
    forward: () => {
      const { step, firstQuestion } = state;
      if (firstQuestion?.given === null && step + 1 === firstQuestion.step) {
        show(step + 1, askFirst(firstQuestion));
        return false; // it waits for the answer
      }
      if (firstQuestion && asksFirst(state)) {
        set(endFirst(firstQuestion, null)); // the answer
        return true;
      }
      const hidden = currentRow(context) < 0 ? null : reveal(context);
      if (hidden) set(hidden);
      else show(step + 1);
      return hidden !== null || state.step > step;
    },
  });
  const goTo: GoTo = (step, patch) => {
    stepper.pause();
    show(step, patch);
  };
  return { ...stepper, goTo };
}

/** Dim the picture until the app answers with another trace. */
function createDimming({ root }: TraceContext) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    root.classList.add("waiting");
    clearTimeout(timer);
    timer = setTimeout(() => root.classList.remove("waiting"), PATIENCE);
  };
}

/** Show another attention; layer and head stay where it has them. */
function chooseSite(context: TraceContext, name: SiteName) {
  const site = context.trace.sites[name];
  if (!site) return;
  const { layer, head, shows } = context.state;
  if (name === "encoder") context.act.pause();
  context.act.select({
    site: name,
    layer: Math.min(layer, site.layers - 1),
    head: Math.min(head, site.heads - 1),
    shows,
    zoom: null,
    hover: null,
  });
}
