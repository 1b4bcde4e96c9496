import { element, type Part, write } from "../../dom/js/element.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { createStore, type Store } from "../../dom/js/store.ts";
import { explainTerms } from "../../dom/js/terms.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import {
  cellOpener,
  createInside,
  insideButton,
  isOffered,
  lookInside,
} from "../../inside/js/inside.ts";
import { createHeadsNote } from "../../map/js/headsNote.ts";
import { createIntegrity } from "../../map/js/integrity.ts";
import { createMap, type MapPart } from "../../map/js/map.ts";
import { createSentence } from "../../map/js/sentence.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { createTransport } from "../../map/js/transport.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import type { ShownView } from "../../page/js/pictureOnPage.ts";
import type { View } from "../../page/js/streamlitComponent.ts";
import { createOpener, placeTrace } from "../../player/js/classPicture.ts";
import { initialState } from "../../trace/js/initialState.ts";
import { createLateChecks, giveChecks } from "../../trace/js/lateChecks.ts";
import type { Selection } from "../../trace/js/look.ts";
import { createSelectionReport, selectionOf } from "../../trace/js/selectionReport.ts";
import { mapTitle, shownName } from "../../trace/js/stepState.ts";
import type { IntegrityCheck, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createHeadFilter, type HeadFilter, NO_FILTER } from "./headFilter.ts";
import { createHeadGrid } from "./headGrid.ts";
import { measuredHead, roleCaption } from "./headRoles.ts";
import { headsFigure, picturedHeads } from "./headsFigure.ts";
import {
  closeContext,
  createViewContext,
  createViewFrame,
  drawView,
  type Listeners,
  showTrace,
  type ViewFrame,
  watchFrame,
} from "./viewFrame.ts";
import type { ViewPayload } from "./viewPayload.ts";

/** What the grid asks about its trace; the rest is asked in the player only. */
const ASKED = ["head", "pictures", "integrity", "vectors", "path", "without"];
const COLUMNS = 900; // px that the grid and the maps beside it need

/**
 * Every head on the left, the selected one at full size on the right.
 * @returns check, follow:
 *   as `mountPlayer`
 */
export function openHeadGrid(
  parent: HTMLElement | ShadowRoot,
  payload: ViewPayload,
  listeners: Listeners,
): View<ViewPayload, Listeners> & {
  selection: () => Selection;
  check: (integrity: IntegrityCheck[]) => void;
  follow: (host: Pick<ShownView, "query" | "guess">) => void;
} {
  const frame = createViewFrame(parent, payload);
  const context = createViewContext(frame, gridTrace(payload), listeners);
  explainTerms(frame.root, frame.sayOfPlayer, frame.signal);
  const filter = createStore(NO_FILTER);
  const map = createMap(context, {
    tools: [insideButton(context)],
    onCell: cellOpener(context),
  });
  const placed = placeParts(context, frame, filter, map);
  const reports = {
    views: [createSelectionReport(context), createLateChecks(context)],
  };
  let begun = false;
  /** Draw for the first time. */
  const begin = () => {
    begun = true;
    drawView(frame, context, [...placed, reports]);
    map.start();
  };
  placeTrace(context, "heads");
  const opener = createOpener(context);
  opener.open(context.pieces, context.state, begin);
  watchFrame(frame, context.screen.measure, COLUMNS);
  listenToKeys(context, {
    i: () => lookInside(context, context.state.inside ? null : undefined),
    escape: () => lookInside(context, null),
  });
  return {
    listen: (next) => Object.assign(context.options, next),
    selection: () => selectionOf(context),
    follow: opener.follow,
    check: (integrity) => giveChecks(context, integrity),
    update: (next) => {
      const trace = gridTrace(next);
      const state = initialState(trace, trace.header.view, context.state);
      opener.open(trace, state, () => {
        frame.give({ payload: next });
        showTrace(context, trace);
        if (!begun) begin();
      });
    },
    destroy: () => {
      closeContext(context);
      map.destroy();
      frame.destroy();
    },
  };
}

/** The trace of a payload, with what the grid asks about it. */
export function gridTrace(payload: Pick<ViewPayload, "trace">): Trace {
  const trace = payload.trace("trace");
  const { resources } = trace.header;
  if (!resources) return trace;
  const names = resources.names.filter((name) => ASKED.includes(name));
  return { ...trace, header: { ...trace.header, resources: { ...resources, names } } };
}

/**
 * Make every part and put it in its place.
 * @returns in the order of drawing
 */
function placeParts(
  context: TraceContext,
  frame: ViewFrame,
  store: Store<HeadFilter>,
  map: MapPart,
): Part[] {
  const site = createSiteChoice(context);
  const headsNote = createHeadsNote(context);
  const filter = frame.payload.header.unmeasured ? [] : [createHeadFilter(context, frame, store)];
  const grid = createHeadGrid(context, frame, store.values);
  const sentence = createSentence(context);
  const transport = createTransport(context);
  const roles = createRolesLine(context, frame);
  const tooltip = createTooltip(context);
  const selected = element(
    "div",
    { class: "selected-head" },
    roles.element,
    sentence.element,
    transport.element,
    map.element,
  );
  const figures = figureButtons(context.say, {
    figure: (width) => headsFigure(context, frame, store.values, width),
    fileName: () => `heads-${context.state.site}`,
    prefix: "heads-",
  });
  const save = saveMenu(context.say, context.signal, figures);
  const offerFigures = () => {
    const none = picturedHeads(context, frame, store.values).length === 0;
    for (const button of figures) button.disabled = none;
  };
  const shown = [site, ...filter].map((part) => part.element);
  const tools = element("div", { class: "tools row wrap" }, ...shown, save, headsNote.element);
  const body = element("div", { class: "head-grid-body" }, grid.element, selected);
  const inside = createInside(context);
  const integrity = createIntegrity(context, () =>
    isOffered(context) ? "keys_inside_heads" : "keys",
  );
  const below = [inside.element, integrity.element, tooltip.element, grid.tooltip];
  frame.root.append(tools, body, ...below);
  return [
    inside, // first: the others take what space is left
    site,
    headsNote,
    ...filter,
    { element: save, views: [offerFigures] },
    grid,
    roles,
    transport,
    map,
    sentence,
    integrity,
    tooltip,
  ];
}

/** The roles of the selected head, over its map. */
function createRolesLine(context: TraceContext, frame: ViewFrame): Part {
  const node = element("p", { class: "verdict", testid: "verdict" });
  const draw = () => {
    const { site, layer, head } = context.state;
    const measured = measuredHead(frame, { site, layer, head });
    const facts = {
      site: context.say(`site_${site}`),
      head: shownName(context, layer, head),
      roles: roleCaption(measured),
    };
    const unmeasured = frame.payload.header.unmeasured
      ? mapTitle(context)
      : frame.say("verdict_unmeasured", facts);
    write(node, measured ? frame.say("verdict", facts) : unmeasured);
  };
  return { element: node, views: [draw] };
}
