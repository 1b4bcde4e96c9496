import { assign, element, type Part, write } from "../../dom/js/element.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { onResize } from "../../dom/js/onResize.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { measured, untracked } from "../../dom/js/store.ts";
import { createMap } from "../../map/js/map.ts";
import { createRail } from "../../map/js/rail.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { initialState } from "../../trace/js/initialState.ts";
import { tokenElement } from "../../trace/js/label.ts";
import { headName } from "../../trace/js/stepState.ts";
import type { Trace } from "../../trace/js/trace.ts";
import {
  createTraceContext,
  drawAll,
  givePieces,
  type TraceContext,
} from "../../trace/js/traceContext.ts";
import { createUnitChoice } from "../../trace/js/unitChoice.ts";
import { createCellNote } from "./cellNote.ts";
import { drawGoldRings } from "./goldRings.ts";
import { probeText, probeTokens } from "./probeText.ts";
import type { ReplayContext } from "./replayContext.ts";
import { learnsSentences, type Moment, sharpestHead } from "./runData.ts";

/** The text above the picture. */
interface ProbeLine {
  element: HTMLElement;
  show: (moment: Moment | undefined, trace: Trace | undefined) => void;
}

/**
 * The probe: the same input at every moment, drawn by the player's parts. Head, scale, zoom and
 * row stay from moment to moment.
 */
export function createProbe(context: ReplayContext): Part & { destroy: () => void } {
  const body = element("div", { class: "probe-body" });
  const sentences = learnsSentences(context.run);
  const text = sentences ? createSentenceLine(context) : createSymbolLine(context);
  const note = element("p", { class: "probe-note", testid: "probe-note" });
  const box = element("section", { class: "probe-box", testid: "probe" }, text.element, note, body);
  assign(box, "aria-label", context.say("probe"));
  const sharpest = element("span", {
    class: "sharpest",
    testid: "sharpest",
    "aria-live": "polite",
  });
  let view: ReturnType<typeof createProbeView> | null = null;
  let shownRun = "";
  const showMoment = () => {
    const { run, state, trace } = context;
    const moment = run.moments[state.at];
    if (trace) {
      untracked(() => {
        view ??= createProbeView(context, body, sharpest, moment, trace);
        view.show(moment, trace);
      });
      shownRun = run.key;
    }
    box.classList.toggle("waiting", !trace);
    const ofOther = shownRun !== run.key; // whose picture is never shown for this run
    box.classList.toggle("other-run", ofOther);
    const none = run.report.going ? "waiting_picture" : "never_picture";
    const reason = !moment ? none : trace === false ? "no_picture" : "loading_picture";
    write(note, ofOther || trace === false ? context.say(reason) : "");
    text.show(moment, trace || context.picture?.pieces);
  };
  /** Show the sharpest head of the moment until the visitor chooses one. */
  const followSharpest = () => {
    const { run, state, selected, picture } = context;
    const best = state.headChosen ? null : sharpestHead(run.moments[state.at]);
    const followed = selected && best;
    if (followed) picture?.set(followed);
    const head = followed && headName(followed.layer, followed.head);
    write(sharpest, head ? context.say("sharpest", { head }) : "");
  };
  const follow = () => {
    const { picture, palette, state } = context;
    picture?.give({ palette });
    picture?.set({ projector: state.projector });
  };
  return {
    element: box,
    views: [showMoment, followSharpest, follow],
    destroy: () => view?.destroy(),
  };
}

/** What is given and what is decoded, each after its name. */
function probeLine(say: Say, given: (Node | string)[], greedy: (Node | string)[]) {
  const [probeTitle, greedyTitle] = [say("probe_title"), say("greedy_title")];
  return element(
    "div",
    { class: "probe-line" },
    element("span", { class: "probe-given", title: probeTitle }, `${say("probe")} `, ...given),
    element("span", { class: "greedy", title: greedyTitle }, `${say("greedy")} `, ...greedy),
  );
}

/** The line of a toy task: the input, its right answer, and the greedy output. */
function createSymbolLine({ run, say }: ReplayContext): ProbeLine {
  const given = element("span", { class: "given", testid: "probe-text" });
  const greedy = element("bdi", { class: "greedy-text", testid: "greedy" });
  const verdict = element("span", { class: "verdict", testid: "verdict" });
  const node = probeLine(say, [given], [greedy, " ", verdict]);
  const show: ProbeLine["show"] = (moment, trace) => {
    if (!trace) return;
    const right = probeTokens(trace).answer;
    write(given, `${probeText(run, trace)} · ${say("forced")}`);
    const tokens = moment?.greedy ? moment.greedy.split(" ") : [];
    const same =
      tokens.length === right.length && tokens.every((token, index) => token === right[index]);
    const spaced = (token: string, index: number) => [
      tokenElement(token, { class: token === right[index] ? "" : "differs" }),
      " ",
    ];
    greedy.replaceChildren(...(tokens.length ? tokens.flatMap(spaced) : [say("empty")]));
    write(verdict, moment ? say(same ? "greedy_right" : "greedy_wrong") : "");
    verdict.classList.toggle("passed", same);
  };
  return { element: node, show };
}

/** The line of a model of sentences, whose output may also be right in other words. */
function createSentenceLine({ run, say }: ReplayContext): ProbeLine {
  const given = element("bdi", { class: "given", testid: "probe-text" });
  const greedy = element("bdi", { class: "greedy-text", testid: "greedy" });
  const node = probeLine(say, [given, ` · ${say("forced")}`], [greedy]);
  node.classList.add("sentence");
  const show: ProbeLine["show"] = (moment, trace) => {
    if (!trace) return;
    write(given, probeText(run, trace));
    write(greedy, moment?.greedy || say("empty"));
    assign(greedy, "title", moment?.greedy);
  };
  return { element: node, show };
}

/**
 * Rail, map and tooltip of the player, with a state of their own.
 * @param sharpest which head is followed
 */
function createProbeView(
  replay: ReplayContext,
  body: HTMLElement,
  sharpest: HTMLElement,
  moment: Moment,
  trace: Trace,
) {
  let shown = moment;
  const context = createProbeContext(replay, trace);
  const weight = (layer: number, head: number) =>
    context.state.site === replay.run.site ? (shown.gold[layer]?.[head] ?? null) : null;
  const title = (head: string, weight: number) =>
    replay.say("head_title", { head, weight: shortWeight(weight) });
  const rail = createRail(context, { gold: { weight, title, axes: replay.say("rail_axes") } });
  const note = createCellNote(replay, () => context);
  const map = createMap(context, { tools: [{ element: sharpest }, note], onCell: note.show });
  const tooltip = createTooltip(context);
  const choices = [createSiteChoice(context), createUnitChoice(context)];
  rail.element.prepend(
    element("div", { class: "choices" }, ...choices.map((choice) => choice.element)),
  );
  const ringed = replay.say("ringed");
  const key = element("span", { class: "ring-key", title: replay.say("ring_title") }, ringed);
  const made = measured(() => body.querySelector(".picture")); // others, of another shape
  const ringCells = () => {
    if (made()) drawGoldRings(context, body, key);
  };
  map.legend.append(key);
  hearHeadChoice(replay, rail.element);
  body.replaceChildren(rail.element, map.element);
  replay.root.append(tooltip.element);
  onResize([body], replay.signal, context.screen.measure);
  drawAll(context, [...choices, rail, map, tooltip, { after: [ringCells] }]);
  map.start();
  replay.give({ picture: context });
  return {
    show: (next: Moment, its: Trace) => {
      shown = next;
      showTrace(context, its, replay.opening().step ?? 0);
    },
    destroy: () => {
      context.screen.stop();
      map.destroy();
      tooltip.element.remove();
    },
  };
}

/** Trace and state of the picture, whose head and row are those chosen before there was one. */
function createProbeContext(replay: ReplayContext, trace: Trace): TraceContext {
  const { projector } = replay.state;
  const { player } = replay.run; // the same in every state of a run
  const opening = replay.opening();
  const context = createTraceContext({
    root: replay.root,
    signal: replay.signal,
    options: { plotly: replay.source.plotly, goTo: (step) => toggleRow(context, step) },
    pieces: trace,
    state: { ...initialState(trace, {}, opening), step: opening.step ?? 0, ahead: true, projector },
    palette: replay.palette,
    strings: () => player,
  });
  return context;
}

/** Remember that the visitor chose a head in the rail. */
function hearHeadChoice(replay: ReplayContext, rail: HTMLElement) {
  const onChoice = ({ target }: Event) => {
    if (target instanceof Element && target.closest("[data-head]"))
      replay.set({ headChosen: true });
  };
  rail.addEventListener("click", onChoice);
  rail.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp" || event.key === "ArrowDown") onChoice(event);
  });
}

/**
 * Another moment of the same input keeps the selection; another input starts anew.
 * @param step of the row that is then marked; 0 = none
 */
function showTrace(context: TraceContext, next: Trace, step: number) {
  const now = context.pieces;
  if (next === now) return;
  const shape = (trace: Trace) => JSON.stringify([trace.source, trace.target, trace.header.sites]);
  const another = shape(now) !== shape(next);
  if (another)
    context.set({ ...initialState(next, {}, context.state), step, ahead: true, hover: null });
  givePieces(context, next, another);
  context.screen.flush();
}

/** A click on a row prints its weights; another click on it hides them. */
function toggleRow({ state, set }: TraceContext, step: number) {
  if (state.site !== "encoder") set({ step: state.step === step ? 0 : step });
}
