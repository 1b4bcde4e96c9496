import {
  cellOpener,
  createInside,
  insideButton,
  isOffered,
  lookInside,
} from "../../inside/js/inside.js";
import { createClassReport, createOpener } from "../../player/js/classMirror.js";
import { drawParts, element, write } from "../../shared/js/element.js";
import { figureButtons } from "../../shared/js/figureButtons.js";
import { createHeadsNote } from "../../shared/js/headsNote.js";
import { initialState } from "../../shared/js/initialState.js";
import { createIntegrity } from "../../shared/js/integrity.js";
import { listenToKeys } from "../../shared/js/keyboard.js";
import { createMap } from "../../shared/js/map.js";
import { saveMenu } from "../../shared/js/saveMenu.js";
import { createSelectionReport, selectionOf } from "../../shared/js/selectionReport.js";
import { createSentence } from "../../shared/js/sentence.js";
import { createSiteChoice } from "../../shared/js/siteChoice.js";
import { mapTitle, shownName, siteOf } from "../../shared/js/stepState.js";
import { anyOf, createStore } from "../../shared/js/store.js";
import { createTooltip } from "../../shared/js/tooltip.js";
import { drawAll } from "../../shared/js/traceContext.js";
import { createTransport } from "../../shared/js/transport.js";
import { createHeadFilter, NO_FILTER } from "./headFilter.js";
import { createHeadGrid } from "./headGrid.js";
import { measuredHead, roleText } from "./headRoles.js";
import { headsFigure } from "./headsFigure.js";
import { createValueMap } from "./valueMap.js";
import {
  closeContext,
  createViewContext,
  createViewFrame,
  showTrace,
  watchFrame,
} from "./viewFrame.js";

/** @import { ShownState } from "../../shared/js/classEvents.js" */
/** @import { DrawnPart, Part } from "../../shared/js/element.js" */
/** @import { MapPart } from "../../shared/js/map.js" */
/** @import { Selection } from "../../shared/js/look.js" */
/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { IntegrityCheck, Trace } from "../../shared/js/trace.js" */
/** @import { TraceContext } from "../../shared/js/traceContext.js" */
/** @import { HeadFilter } from "./headFilter.js" */
/** @import { Store } from "../../shared/js/store.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */
/** @import { ViewPayload } from "./viewPayload.js" */

/** What the grid asks about its trace; the rest is asked in the player only. */
const ASKED = ["head", "vectors", "path", "without"];
const COLUMNS = 900; // px that the grid and the maps beside it need

/**
 * Every head on the left, the selected one at full size on the right.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @param {Listeners} listeners
 * @returns {View<ViewPayload, Listeners> & {selection: () => Selection,
 *   check: (integrity: IntegrityCheck[]) => void, follow: (shown: ShownState) => void}} check, follow:
 *   as `mountPlayer`
 */
export function openHeadGrid(parent, payload, listeners) {
  const frame = createViewFrame(parent, payload);
  /** @type {DrawnPart[]} */
  const parts = [];
  const context = createViewContext(frame, gridTrace(payload), listeners, parts);
  const filter = createStore(NO_FILTER, (changed) => {
    drawParts(parts, changed);
  });
  const map = createMap(context, {
    tools: [insideButton(context)],
    onCell: cellOpener(context),
  });
  const placed = placeParts(context, frame, filter, map);
  const shown = payload.hasValues("norms") ? "norms" : "heads";
  const reports = [createSelectionReport(context), createClassReport(context, shown)];
  /** Draw for the first time. */
  const begin = () => {
    parts.push(...placed, ...reports.map((update) => ({ update })));
    drawAll(context);
    map.start();
  };
  const opener = createOpener(context);
  opener.open(context.pieces, context.state, begin);
  watchFrame(frame, () => context.touch("size"), COLUMNS);
  listenToKeys(context, {
    p: () => context.set({ projector: !context.state.projector }),
    i: () => lookInside(context, context.state.inside ? null : undefined),
    escape: () => lookInside(context, null),
  });
  return {
    listen: (next) => Object.assign(context.options, next),
    selection: () => selectionOf(context),
    follow: opener.follow,
    check: (integrity) => {
      context.pieces.header.integrity = integrity;
      context.touch("integrity");
    },
    update: (next) => {
      const trace = gridTrace(next);
      const state = initialState(trace, trace.header.view, context.state);
      opener.open(trace, state, () => {
        frame.payload = next;
        showTrace(context, trace);
        context.touch("payload", "size");
        if (!parts.length) begin();
      });
    },
    destroy: () => {
      closeContext(context);
      filter.stop();
      map.destroy();
      frame.destroy();
    },
  };
}

/**
 * The trace of a payload, with what the grid asks about it.
 * @param {Pick<ViewPayload, "trace">} payload
 * @returns {Trace}
 */
export function gridTrace(payload) {
  const trace = payload.trace("trace");
  const { resources } = trace.header;
  if (!resources) return trace;
  const names = resources.names.filter((name) => ASKED.includes(name));
  return { ...trace, header: { ...trace.header, resources: { ...resources, names } } };
}

/**
 * Make every part and put it in its place.
 * @param {TraceContext} context
 * @param {ViewFrame} frame
 * @param {Store<HeadFilter>} store
 * @param {MapPart} map
 * @returns {Part[]} in the order of drawing
 */
function placeParts(context, frame, store, map) {
  /** @type {Parameters<typeof createValueMap>[2]["read"]} */
  const readNorms = (site) => frame.payload.values("norms", site);
  const hasNorms = frame.payload.hasValues("norms");
  const shownNorms = () => (hasNorms ? readNorms(siteOf(context)) : null);
  const site = createSiteChoice(context);
  const headsNote = createHeadsNote(context);
  const filter = frame.payload.header.unmeasured ? [] : [createHeadFilter(context, frame, store)];
  const grid = createHeadGrid(context, frame, store.values, hasNorms ? readNorms : null);
  const sentence = createSentence(context);
  const transport = createTransport(context);
  const roles = createRolesLine(context, frame);
  const tooltip = createTooltip(context);
  const norms = hasNorms
    ? [createValueMap(context, frame, { name: "norms", read: readNorms, signed: false })]
    : [];
  const maps = element("div", { class: "maps" }, map.element, ...norms.map((part) => part.element));
  const selected = element(
    "div",
    { class: "selected-head" },
    roles.element,
    sentence.element,
    transport.element,
    maps,
  );
  const figures = figureButtons(context.say, {
    figure: (width) => headsFigure(context, frame, store.values, shownNorms(), width),
    fileName: () => `heads-${context.state.site}${hasNorms ? "-norms" : ""}`,
    prefix: "heads-",
  });
  const save = saveMenu(context.say, context.signal, figures);
  const shown = [site, ...filter].map((part) => part.element);
  const tools = element("div", { class: "tools" }, ...shown, save, headsNote.element);
  const body = element(
    "div",
    { class: hasNorms ? "head-grid-body with-norms" : "head-grid-body" },
    grid.element,
    selected,
  );
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
    grid,
    roles,
    transport,
    map,
    ...norms,
    sentence,
    integrity,
    tooltip,
  ];
}

/**
 * The roles of the selected head, over its map.
 * @param {TraceContext} context
 * @param {ViewFrame} frame
 * @returns {Part}
 */
function createRolesLine(context, frame) {
  const node = element("p", { class: "verdict", testid: "verdict" });
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "trace", "site", "layer", "head", "payload")) return;
    const { site, layer, head } = context.state;
    const measured = measuredHead(frame, { site, layer, head });
    const facts = {
      site: context.say(`site_${site}`),
      head: shownName(context, layer, head),
      roles: roleText(measured),
    };
    const unmeasured = frame.payload.header.unmeasured
      ? mapTitle(context)
      : frame.say("verdict_unmeasured", facts);
    write(node, measured ? frame.say("verdict", facts) : unmeasured);
  };
  return { element: node, update };
}
