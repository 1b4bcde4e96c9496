import {
  cellOpener,
  createInside,
  insideButton,
  isOffered,
  lookInside,
} from "../../inside/js/inside.js";
import { drawParts, element } from "../../shared/js/element.js";
import { createHeadsNote } from "../../shared/js/headsNote.js";
import { initialState } from "../../shared/js/initialState.js";
import { createIntegrity } from "../../shared/js/integrity.js";
import { listenToKeys } from "../../shared/js/keyboard.js";
import { createMap } from "../../shared/js/map.js";
import { createPairFilter } from "../../shared/js/pairFilter.js";
import { showProjector } from "../../shared/js/projector.js";
import { createRail } from "../../shared/js/rail.js";
import { createSelectionReport, selectionOf } from "../../shared/js/selectionReport.js";
import { createSentence } from "../../shared/js/sentence.js";
import { followShown } from "../../shared/js/shownChoice.js";
import { createSiteChoice } from "../../shared/js/siteChoice.js";
import { anyOf } from "../../shared/js/store.js";
import { createTooltip } from "../../shared/js/tooltip.js";
import { createTraceContext, drawAll } from "../../shared/js/traceContext.js";
import { createLoading } from "../../shared/js/traceQuestions.js";
import { createTransport } from "../../shared/js/transport.js";
import { createUnitChoice, setTrace } from "../../shared/js/unitChoice.js";
import { markNarrow, watchSize, watchTheme } from "../../shared/js/watchers.js";
import { readAttribution } from "./attribution.js";
import { createCandidates } from "./candidates.js";
import { createClassReport, createOpener } from "./classMirror.js";
import { createColumns } from "./columns.js";
import { createCutOff } from "./cutOff.js";
import { createDownloads } from "./download.js";
import { createForcedTokens } from "./forcedTokens.js";
import { createGuessControl } from "./guessControl.js";
import { createAskedMask, createCardAnswer, createHighlight, followLesson } from "./lessonView.js";
import { createMoreButton } from "./moreButton.js";
import { createOutput } from "./output.js";
import { createPredictions } from "./predictions.js";
import { createSourceShare } from "./sourceShare.js";
import { createStrips } from "./strips.js";

/** @import { ShownState } from "../../shared/js/classEvents.js" */
/** @import { DrawnPart } from "../../shared/js/element.js" */
/** @import { MapPart } from "../../shared/js/map.js" */
/** @import { TraceState } from "../../shared/js/initialState.js" */
/** @import { Selection } from "../../shared/js/look.js" */
/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { IntegrityCheck, Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext, TraceOptions } from "../../shared/js/traceContext.js" */
/** @import { FindAttribution } from "./headParts.js" */

const COLUMNS = 960; // px that thumbnails, map and candidates need beside each other

/** @typedef {Partial<TraceOptions>} Listeners */

/**
 * Show a trace in the stepping player.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {Trace} trace
 * @param {TraceOptions} options
 * @returns {View<Trace, Listeners> & {selection: () => Selection,
 *   check: (integrity: IntegrityCheck[]) => void, follow: (shown: ShownState) => void}} check: says
 *   what the checks of a trace found that came without them; follow: shows what a host shows
 */
export function mountPlayer(parent, trace, options) {
  const abort = new AbortController();
  const root = element("div", { class: "player", testid: "player", tabindex: "-1" });
  parent.append(root);
  /** @type {DrawnPart[]} */
  let parts = [];
  /** @type {MapPart | null} */
  let map = null;
  const palette = watchTheme(root, (next) => {
    context.palette = next;
    context.touch("theme");
  });
  const context = createTraceContext({
    root,
    signal: abort.signal,
    options,
    pieces: trace,
    state: initialState(trace, trace.header.view, { more: false }),
    palette,
    strings: () => context.pieces.header.strings,
    draw: (changed) => {
      if (changed.has("projector")) showProjector(root, context.state.projector);
      root.dataset.site = context.state.site;
      drawParts(parts, changed);
      report(changed);
      tellClass(changed);
    },
  });
  const report = createSelectionReport(context);
  const attribution = createLoading(context, "attribution", readAttribution);
  const tellClass = createClassReport(context, "player");
  /** Draw with new parts: at first, and in another language. */
  const build = () => {
    map?.destroy();
    const tools = [
      createPairFilter(context),
      createMoreButton(context),
      insideButton(context),
      createDownloads(context, attribution),
    ];
    map = createMap(context, { tools, onCell: cellOpener(context) });
    parts = placeParts(context, map, attribution);
    root.lang = context.trace.header.language;
    drawAll(context);
    map.start();
  };
  watchSize(
    root,
    abort.signal,
    (top) => top,
    () => {
      markNarrow(root, COLUMNS);
      context.touch("size");
    },
  );
  const opener = createOpener(context);
  opener.open(trace, context.state, () => {
    build();
    followShown(context);
  });
  listenToKeys(context, {
    p: () => context.set({ projector: !context.state.projector }),
    g: () => context.act.toggleGuess(),
    i: () => lookInside(context, context.state.inside ? null : undefined),
    escape: () => lookInside(context, null),
  });
  followLesson(context, (state) => showTrace(context, context.pieces, state));
  return {
    update: (next) => {
      const state = initialState(next, next.header.view, context.state);
      opener.open(next, state, () => {
        const { language } = context.trace.header;
        showTrace(context, next, state);
        if (!parts.length || language !== next.header.language) build();
        else context.store.flush(); // drawn while the next frame is waited for
        followShown(context);
      });
    },
    selection: () => selectionOf(context),
    follow: opener.follow,
    check: (integrity) => {
      context.pieces.header.integrity = integrity;
      context.touch("integrity");
    },
    listen: (listeners) => {
      Object.assign(context.options, listeners);
      root.classList.remove("waiting"); // an answer of any kind ends the waiting
    },
    destroy: () => {
      abort.abort();
      context.act.pause();
      context.store.stop();
      map?.destroy();
      for (const name of ["data-guess", "data-more"])
        document.documentElement.removeAttribute(name);
      root.remove();
    },
  };
}

/**
 * Make every part and put it in its place.
 * @param {TraceContext} context
 * @param {MapPart} map
 * @param {FindAttribution} attribution
 * @returns {DrawnPart[]} in the order of drawing
 */
function placeParts(context, map, attribution) {
  const strips = createStrips(context);
  const transport = createTransport(context);
  const guess = createGuessControl(context);
  const unit = createUnitChoice(context);
  const site = createSiteChoice(context);
  const rail = createRail(context);
  const headsNote = createHeadsNote(context);
  const candidates = createCandidates(context, attribution);
  const predictions = createPredictions(context);
  const forced = createForcedTokens(context);
  const sentence = createSentence(context);
  const share = createSourceShare(context);
  const cutOff = createCutOff(context);
  const output = createOutput(context);
  const integrity = createIntegrity(context, () =>
    isOffered(context) ? "keys_inside" : "keys_guess",
  );
  const inside = createInside(context);
  const tooltip = createTooltip(context);
  rail.element.prepend(site.element, headsNote.element);
  transport.element.append(unit.element);
  transport.element.querySelector(".move.last")?.after(guess.element);
  const beside = [sentence, share, predictions, candidates, cutOff, forced, output].map(
    (part) => part.element,
  );
  const aside = element("div", { class: "aside" }, ...beside);
  const main = element("div", { class: "main" }, rail.element, map.element, aside);
  const sensor = /** @type {Element} */ (context.root.firstElementChild);
  context.root.replaceChildren(
    sensor,
    strips.element,
    transport.element,
    main,
    inside.element,
    integrity.element,
    tooltip.element,
  );
  const strip = {
    element: strips.element,
    update: () => keepHeights(context, strips.element, main),
  };
  const placeOutput = {
    element: output.element,
    update: (/** @type {Set<string>} */ changed) => {
      if (!anyOf(changed, "projector", "size")) return;
      const { root, state } = context;
      const across = state.projector && root.dataset.narrow === undefined;
      if (across) integrity.element.before(output.element);
      else aside.append(output.element);
    },
  };
  const columns = { element: main, update: createColumns(context, { main, aside }) };
  const above = [
    inside,
    unit,
    strips,
    transport,
    guess,
    site,
    headsNote,
    integrity,
    placeOutput,
    output,
    columns,
  ];
  const asked = [createCardAnswer(context), createAskedMask(context)];
  const lesson = [createHighlight(context), ...asked]; // of what is drawn by then
  const column = [forced, sentence, share, cutOff, predictions, candidates];
  // Each takes what space those before it leave. The pictures are last: reading a space after them
  // would make the browser lay them out once more.
  return [...above, ...column, strip, rail, map, tooltip, ...lesson];
}

/**
 * Tell the style sheet how high the strips are, below which the transport stays in view, and where
 * the picture begins.
 * @param {TraceContext} context
 * @param {HTMLElement} strips
 * @param {HTMLElement} main
 */
function keepHeights({ root, state }, strips, main) {
  if (!state.inside) return;
  root.style.setProperty("--strips-height", `${strips.offsetHeight}px`);
  root.style.setProperty("--picture-top", `${main.offsetTop}px`);
}

/**
 * Show another trace; the selection stays unless the view of the trace says otherwise.
 * @param {TraceContext} context
 * @param {Trace} next
 * @param {TraceState} state
 */
function showTrace(context, next, state) {
  context.act.pause();
  context.generation += 1;
  context.root.classList.remove("waiting");
  context.store.set(state);
  setTrace(context, next);
  context.touch("trace", "step", "site", "layer", "head", "shows", "ahead", "zoomed");
}
