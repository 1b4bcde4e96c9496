import { type DrawnPart, element, type Part } from "../../dom/js/element.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { type View as Draw, measured } from "../../dom/js/store.ts";
import { explainTerms } from "../../dom/js/terms.ts";
import {
  cellOpener,
  createInside,
  insideButton,
  isOffered,
  lookInside,
} from "../../inside/js/inside.ts";
import { createHeadPictures } from "../../map/js/headPictures.ts";
import { createHeadsNote } from "../../map/js/headsNote.ts";
import { createIntegrity } from "../../map/js/integrity.ts";
import { createMap, type MapPart } from "../../map/js/map.ts";
import { createOverview } from "../../map/js/overview.ts";
import { createPairFilter } from "../../map/js/pairFilter.ts";
import { createRail } from "../../map/js/rail.ts";
import { createSentence } from "../../map/js/sentence.ts";
import { followShown } from "../../map/js/shownChoice.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { createTransport } from "../../map/js/transport.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { ShownView } from "../../page/js/pictureOnPage.ts";
import { showProjector } from "../../page/js/projector.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { markNarrow, watchSize, watchTheme } from "../../page/js/watchers.ts";
import { showEdit } from "../../trace/js/editing.ts";
import { createEverything } from "../../trace/js/everything.ts";
import { initialState, type TraceState, viewAfterDrawing } from "../../trace/js/initialState.ts";
import { createLateChecks, giveChecks } from "../../trace/js/lateChecks.ts";
import type { Selection } from "../../trace/js/look.ts";
import { createSelectionReport, selectionOf } from "../../trace/js/selectionReport.ts";
import type { IntegrityCheck, Trace } from "../../trace/js/trace.ts";
import {
  createTraceContext,
  drawAll,
  givePieces,
  type TraceContext,
  type TraceOptions,
} from "../../trace/js/traceContext.ts";
import { createLoading } from "../../trace/js/traceQuestions.ts";
import { createUnitChoice } from "../../trace/js/unitChoice.ts";
import { readAttribution } from "./attribution.ts";
import { createCandidates } from "./candidates.ts";
import { createChanges } from "./changes.ts";
import { createOpener, placeTrace } from "./classPicture.ts";
import { createColumns } from "./columns.ts";
import { createCutOff } from "./cutOff.ts";
import { createDownloads } from "./download.ts";
import { createEditBar, createEditButton } from "./edit.ts";
import { createEffect } from "./effect.ts";
import { createFirstQuestion, playOnFirstVisit } from "./firstVisit.ts";
import { createGuessControl } from "./guessControl.ts";
import type { FindAttribution } from "./headParts.ts";
import { createAskedMask, createCardAnswer, createHighlight, followLesson } from "./lessonView.ts";
import { createOutput } from "./output.ts";
import { createPredictions } from "./predictions.ts";
import { createSourceShare } from "./sourceShare.ts";
import { createStrips } from "./strips.ts";

const COLUMNS = 960; // px that thumbnails, map and candidates need beside each other

export type Listeners = Partial<TraceOptions>;

/**
 * Show a trace in the stepping player.
 * @returns check: says
 *   what the checks of a trace found that came without them; follow: shows what a host shows
 */
export function mountPlayer(
  parent: HTMLElement | ShadowRoot,
  trace: Trace,
  options: TraceOptions,
): View<Trace, Listeners> & {
  selection: () => Selection;
  check: (integrity: IntegrityCheck[]) => void;
  follow: (host: Pick<ShownView, "query" | "guess">) => void;
} {
  const abort = new AbortController();
  const root = element("div", { class: "player", testid: "player", tabindex: "-1" });
  parent.append(root);
  const palette = watchTheme(root, (next) => {
    context.give({ palette: next });
  });
  const context = createTraceContext({
    root,
    signal: abort.signal,
    options,
    pieces: trace,
    state: initialState(trace, trace.header.view, { everything: onPage.everything }),
    palette,
    strings: () => context.pieces.header.strings,
  });
  explainTerms(root, context.say, abort.signal);
  const picture = createPicture(context);
  watchSize(root, abort.signal, () => {
    markNarrow(root, COLUMNS);
    context.screen.measure();
  });
  const opener = createOpener(context);
  opener.open(trace, context.state, () => {
    picture.draw(true);
    followShown(context);
    playOnFirstVisit(context);
  });
  listenToKeys(context, keysOf(context));
  placeTrace(context, "player");
  return {
    update: (next) => {
      const state = initialState(next, viewAfterDrawing(context, next), context.state);
      opener.open(next, state, () => {
        const { language } = context.trace.header;
        showTrace(context, next, state);
        picture.draw(language !== next.header.language);
        followShown(context);
      });
    },
    selection: () => selectionOf(context),
    follow: opener.follow,
    check: (integrity) => giveChecks(context, integrity),
    listen: (listeners) => {
      Object.assign(context.options, listeners);
      root.classList.remove("waiting"); // an answer of any kind ends the waiting
    },
    destroy: () => {
      abort.abort();
      context.act.pause();
      context.screen.stop();
      picture.destroy();
      document.documentElement.removeAttribute("data-guess");
      root.remove();
    },
  };
}

function keysOf(context: TraceContext) {
  return {
    g: () => context.act.toggleGuess(),
    i: () => lookInside(context, context.state.inside ? null : undefined),
    escape: () => {
      if (context.state.edit) showEdit(context, false);
      else lookInside(context, null);
    },
  };
}

/** All parts of the player, which are made at first and, anew, in another language. */
function createPicture(context: TraceContext) {
  const { root } = context;
  let map: MapPart | null = null;
  const report = createSelectionReport(context);
  const attribution = createLoading(context, "attribution", readAttribution);
  const lesson = followLesson(context, (state) => showTrace(context, context.pieces, state));
  const lateChecks = createLateChecks(context);
  const markSite = () => {
    root.dataset.site = context.state.site;
  };
  const build = () => {
    map?.destroy();
    const tools = [
      createPairFilter(context),
      createEverything(context),
      oneStop([createEditButton(context), insideButton(context)]),
      createDownloads(context, attribution),
      createEditBar(context),
    ];
    map = createMap(context, { tools, onCell: cellOpener(context) });
    const page = { views: [() => showProjector(root, context.state.projector), markSite] };
    const told = { views: [report, lateChecks] };
    root.lang = context.trace.header.language;
    drawAll(context, [lesson, page, ...placeParts(context, map, attribution), told]);
    map.start();
  };
  /** @param anew whether with new parts */
  const draw = (anew: boolean) => {
    if (!map || anew) build();
    else context.screen.flush(); // drawn while the next frame is waited for
  };
  return { draw, destroy: () => map?.destroy() };
}

/**
 * Make every part and put it in its place.
 * @returns in the order of drawing
 */
function placeParts(
  context: TraceContext,
  map: MapPart,
  attribution: FindAttribution,
): DrawnPart[] {
  const strips = createStrips(context);
  const transport = createTransport(context);
  const guess = createGuessControl(context);
  const unit = createUnitChoice(context);
  const site = createSiteChoice(context);
  const heads = createHeadPictures(context);
  const rail = createRail(context, { heads });
  const overview = createOverview(context, heads);
  const headsNote = createHeadsNote(context);
  const candidates = createCandidates(context, attribution);
  const predictions = createPredictions(context);
  const changes = createChanges(context);
  const effect = createEffect(context);
  const question = createFirstQuestion(context);
  const sentence = createSentence(context);
  const share = createSourceShare(context);
  const cutOff = createCutOff(context);
  const output = createOutput(context);
  const integrity = createIntegrity(context, () =>
    isOffered(context) ? "keys_inside" : "keys_guess",
  );
  const inside = createInside(context);
  const tooltip = createTooltip(context);
  rail.element.prepend(site.element, headsNote.element, overview.element);
  transport.element.append(unit.element);
  transport.element.querySelector(".moves")?.after(guess.element);
  const beside = [
    effect,
    question,
    sentence,
    share,
    predictions,
    candidates,
    cutOff,
    changes,
    output,
  ].map((part) => part.element);
  const aside = element("div", { class: "aside" }, ...beside);
  const main = element("div", { class: "main" }, rail.element, map.element, aside);
  const sensor = context.root.firstElementChild as Element;
  context.root.replaceChildren(
    sensor,
    strips.element,
    transport.element,
    main,
    inside.element,
    integrity.element,
    tooltip.element,
  );
  const placeOutput = () => {
    if (context.state.projector && !context.narrow()) integrity.element.before(output.element);
    else aside.append(output.element);
  };
  const columns = createColumns(context, { main, aside });
  const place = { views: [placeOutput, columns, keepHeights(context, strips.element, main)] };
  const above = [inside, unit, strips, transport, guess, site, headsNote, overview, integrity];
  const column = [
    changes,
    effect,
    question,
    sentence,
    share,
    cutOff,
    predictions,
    candidates,
    output,
  ];
  const lesson = [createHighlight(context), createCardAnswer(context), createAskedMask(context)];
  return [...above, ...column, place, rail, map, tooltip, ...lesson];
}

/**
 * Tell the style sheet whether a lesson is followed, how high the strips are, below which the transport stays in view, and where
 * the picture begins.
 */
function keepHeights(context: TraceContext, strips: HTMLElement, main: HTMLElement): Draw {
  const { root, state } = context;
  const stripsHeight = measured(() => strips.offsetHeight);
  const pictureTop = measured(() => main.offsetTop);
  return () => {
    root.toggleAttribute("data-in-lesson", context.inLesson);
    if (!state.inside) return;
    root.style.setProperty("--strips-height", `${stripsHeight()}px`);
    root.style.setProperty("--picture-top", `${pictureTop()}px`);
  };
}

/** Buttons beside each other, of which the Tab key stops at one; ↑ and ↓ go to the other. */
function oneStop(parts: Part[]): Part {
  const all = parts.map((part) => part.element);
  const node = element("div", { class: "map-acts", role: "group" }, ...all);
  const shown = () => all.filter(({ hidden }) => !hidden);
  followArrows(node, shown, { press: () => false });
  const count = measured(() => shown().length);
  const draw = () => {
    if (count()) markStop(shown(), all.at(-1));
  };
  return { element: node, views: [...parts.flatMap(({ views = [] }) => views), draw] };
}

/** Show another trace; the selection stays unless the view of the trace says otherwise. */
function showTrace(context: TraceContext, next: Trace, state: TraceState) {
  context.act.pause();
  context.root.classList.remove("waiting");
  context.set(state);
  givePieces(context, next);
}
