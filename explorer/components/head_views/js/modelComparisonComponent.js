import { drawParts, element } from "../../shared/js/element.js";
import { figureButtons } from "../../shared/js/figureButtons.js";
import { createIntegrity } from "../../shared/js/integrity.js";
import { listenToKeys } from "../../shared/js/keyboard.js";
import { labelOf } from "../../shared/js/label.js";
import { createRail } from "../../shared/js/rail.js";
import { saveMenu } from "../../shared/js/saveMenu.js";
import { createSelectionReport } from "../../shared/js/selectionReport.js";
import { createSiteChoice } from "../../shared/js/siteChoice.js";
import { shownName, siteOf } from "../../shared/js/stepState.js";
import { anyOf } from "../../shared/js/store.js";
import { streamlitComponent } from "../../shared/js/streamlitComponent.js";
import { tableButton } from "../../shared/js/tableButton.js";
import { createTooltip } from "../../shared/js/tooltip.js";
import { FULL_WEIGHT } from "../../shared/js/trace.js";
import { drawAll } from "../../shared/js/traceContext.js";
import { createTransport } from "../../shared/js/transport.js";
import { shareScale, synchronise } from "./comparison.js";
import {
  comparisonColumn,
  createOutputs,
  createSide,
  MAPS_BESIDE,
  RAIL_BESIDE,
} from "./comparisonSides.js";
import { pairTable } from "./comparisonTables.js";
import { createHeadPairs } from "./headPairs.js";
import { viewListeners } from "./listeners.js";
import { pairFigure } from "./pairFigure.js";
import { createSimilarityMatrix } from "./similarityMatrix.js";
import { createValueMap } from "./valueMap.js";
import { closeContext, createViewFrame, showTrace, watchFrame } from "./viewFrame.js";
import { readViewPayload } from "./viewPayload.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { View } from "../../shared/js/streamlitComponent.js" */
/** @import { Site } from "../../shared/js/trace.js" */
/** @import { Side } from "./comparisonSides.js" */
/** @import { HeadPairs, Rule } from "./headPairs.js" */
/** @import { Listeners, ViewFrame } from "./viewFrame.js" */
/** @import { HeadValues, ViewPayload } from "./viewPayload.js" */

/** A text in two models as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: ({ header }) => [header.language, header.rule, ...(header.names ?? [])].join("\n"),
  listeners: viewListeners,
  open: openModelComparison,
});

/**
 * Two traces of the same tokens, their steps synchronised, each with a head of its own; the
 * difference of the two, and how alike all heads are.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {ViewPayload} payload
 * @param {Listeners} listeners
 * @returns {View<ViewPayload, Listeners>}
 */
function openModelComparison(parent, payload, listeners) {
  const frame = createViewFrame(parent, payload);
  frame.root.classList.add("comparison");
  const original = createSide(frame, payload.trace("original"), listeners);
  const changed = createSide(frame, payload.trace("changed"), listeners);
  const sides = [original, changed];
  original.context.beside = [changed.context];
  changed.context.beside = [original.context];
  const { context: own } = original;
  const initial = payload.header.rule ?? "matched";
  const similar = () => frame.payload.header.similar ?? {};
  const pairs = createHeadPairs(similar, own, changed.context, initial);
  choosePair(pairs, payload);
  shareScale(own.trace, changed.context.trace);
  const pairBeside = () => changed.context.set(pairs.other());
  const parts = placeParts(frame, original, changed, pairs, pairBeside);
  const report = createSelectionReport(own, { more: () => otherOf(pairs, initial) });
  const [follow, followBack] = synchronise(own, changed.context, ["layer", "head"]);
  original.parts.push({ update: follow }, { update: report });
  original.parts.unshift({
    update: (names) => {
      if (anyOf(names, "trace", "site", "layer", "head")) pairBeside();
    },
  });
  changed.parts.push(
    { update: followBack },
    {
      update: (names) => {
        if (!anyOf(names, "layer", "head")) return;
        drawParts(parts, new Set(["head"]));
        report(new Set(["head"]));
      },
    },
  );
  for (const { context, map } of sides) {
    drawAll(context);
    map.start();
  }
  watchFrame(frame, () => touchSize(sides), MAPS_BESIDE, RAIL_BESIDE);
  listenToKeys(own, { p: () => own.set({ projector: !own.state.projector }) });
  return {
    listen: (next) => {
      for (const { context } of sides) Object.assign(context.options, next);
    },
    update: (next) => {
      frame.payload = next;
      showTrace(own, next.trace("original"));
      showTrace(changed.context, next.trace("changed"));
      choosePair(pairs, next);
      shareScale(own.trace, changed.context.trace); // drawn with the next frame
    },
    destroy: () => {
      for (const { context, map } of sides) {
        closeContext(context);
        map.destroy();
      }
      frame.destroy();
    },
  };
}

/** @param {Side[]} sides */
function touchSize(sides) {
  for (const { context } of sides) context.touch("size");
}

/**
 * The head of the second model that a link names.
 * @param {HeadPairs} pairs
 * @param {ViewPayload} payload
 */
function choosePair(pairs, { header }) {
  if (header.pair) pairs.choose({ layer: header.pair[0], head: header.pair[1] });
}

/**
 * What the app is told of the pair: the head of the second side where it is not the one that the
 * comparison opens with.
 * @param {HeadPairs} pairs
 * @param {Rule} initial
 */
function otherOf(pairs, initial) {
  const place = pairs.rule() === initial ? pairs.chosen() : pairs.other();
  return { other: place && place.head >= 0 ? [place.layer, place.head] : null };
}

/**
 * Make every part, put it in its place, and add it to those drawn with its trace.
 * @param {ViewFrame} frame
 * @param {Side} original
 * @param {Side} changed
 * @param {HeadPairs} pairs
 * @param {() => void} pairBeside
 * @returns {Part[]} those that show both heads
 */
function placeParts(frame, original, changed, pairs, pairBeside) {
  const { context } = original;
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const site = createSiteChoice(context);
  const rail = createRail(context);
  const transport = createTransport(context);
  const outputs = createOutputs(
    () => [a, b],
    () => frame.payload.header.outputs ?? [[], []],
  );
  const difference = createValueMap(context, frame, {
    name: "pair",
    read: (which) => differenceOf(which, changed, pairs),
    signed: true,
    facts: () => headsShown(original, changed),
    tokenOf: (side, position) => tokenPair(frame, original, changed, side, position),
  });
  const matrix = createSimilarityMatrix(
    context,
    changed.context,
    frame,
    pairs,
    ({ own, other }) => {
      context.set(own);
      pairs.choose(other);
      pairBeside();
      matrix.update(new Set(["head"]));
    },
    (rule) => {
      pairs.follow(rule);
      pairBeside();
      matrix.update(new Set(["head"]));
    },
  );
  const integrity = createIntegrity(changed.context);
  const tooltips = [createTooltip(context), createTooltip(changed.context)];
  rail.element.prepend(site.element);
  const second = frame.payload.header.given || b;
  const columns = [
    comparisonColumn("original", a, original.map),
    comparisonColumn("changed", second, changed.map),
    comparisonColumn("difference", frame.say("comparison_pair", { a, b }), difference),
  ];
  const save = savePair(frame, original, changed, pairs);
  const top = element("div", { class: "comparison-top" }, transport.element, outputs.element, save);
  const body = element("div", { class: "comparison-body" }, rail.element, ...columns);
  const below = [integrity, matrix, ...tooltips].map((part) => part.element);
  frame.root.append(top, body, ...below);
  original.parts.push(
    site,
    rail,
    original.map,
    difference,
    transport,
    outputs,
    matrix,
    tooltips[0],
  );
  changed.parts.push(changed.map, integrity, tooltips[1]);
  return [difference, matrix];
}

/**
 * The menu that saves both maps and their difference.
 * @param {ViewFrame} frame
 * @param {Side} original
 * @param {Side} changed
 * @param {HeadPairs} pairs
 */
function savePair(frame, original, changed, pairs) {
  const { context } = original;
  const contexts = [context, changed.context];
  const fileName = () => {
    const { own, other } = headsShown(original, changed);
    return `compare-${context.state.site}-${own}-${other}`.replaceAll(" ", "-");
  };
  const shownDifference = () => {
    const { layer, head } = context.state;
    return differenceOf(siteOf(context), changed, pairs)?.of(layer, head) ?? null;
  };
  const figures = figureButtons(context.say, {
    figure: (width) => {
      const values = shownDifference();
      return values && pairFigure(contexts, frame, values, width);
    },
    fileName,
    prefix: "pair-",
  });
  const table = tableButton(context.say, {
    table: () => {
      const values = shownDifference();
      return values && tableOfPair(frame, original, changed, values);
    },
    fileName,
    prefix: "pair-",
    title: frame.say("pair_csv_title"),
  });
  return saveMenu(context.say, context.signal, [...figures, table]);
}

/**
 * The weights of the two heads on screen as CSV.
 * @param {ViewFrame} frame
 * @param {Side} original
 * @param {Side} changed
 * @param {Float32Array} difference
 */
function tableOfPair(frame, original, changed, difference) {
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const { own, other } = headsShown(original, changed);
  const [first, second] = [original, changed].map(({ context }) => {
    const { layer, head } = context.state;
    return { site: siteOf(context), layer, head };
  });
  return pairTable(
    [`${a} ${own}`, `${b} ${other}`],
    [first, second],
    difference,
    (side, position) => tokenPair(frame, original, changed, side, position),
  );
}

/**
 * The names of the two heads on screen.
 * @param {Side} original
 * @param {Side} changed
 */
function headsShown(original, changed) {
  const [own, other] = [original.context, changed.context].map((context) =>
    shownName(context, context.state.layer, context.state.head),
  );
  return { own, other };
}

/**
 * The token at a position; of two texts, both tokens where they differ.
 * @param {ViewFrame} frame
 * @param {Side} original
 * @param {Side} changed
 * @param {"queryTokens" | "keyTokens"} side
 * @param {number} position
 */
function tokenPair(frame, original, changed, side, position) {
  const [own, other] = [original, changed].map(
    ({ context }) => context.trace.sites[original.context.state.site]?.[side][position],
  );
  if (own === undefined || other === undefined || own === other) return labelOf(own ?? "");
  return frame.say("pair_tokens", { a: labelOf(own), b: labelOf(other) });
}

/**
 * The weights of the second head minus those of the first; full colour is a difference of 1
 * whatever the pair, so that two pairs can be compared by eye.
 * @param {Site} site of the first trace
 * @param {Side} changed
 * @param {HeadPairs} pairs
 * @returns {HeadValues | null}
 */
function differenceOf(site, { context }, pairs) {
  const second = context.trace.sites[site.name];
  if (!second) return null;
  return {
    largest: 1,
    strongest: { layer: 0, head: 0 },
    of: (layer, head) => {
      const other = pairs.other();
      const [one, two] = [site.weights(layer, head), second.weights(other.layer, other.head)];
      const [scale, otherScale] = [site.scale / FULL_WEIGHT, second.scale / FULL_WEIGHT];
      return Float32Array.from(one, (code, cell) => two[cell] * otherScale - code * scale);
    },
  };
}
