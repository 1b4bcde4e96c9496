import { element } from "../../dom/js/element.ts";
import { saveMenu } from "../../dom/js/saveMenu.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { createIntegrity } from "../../map/js/integrity.ts";
import { createRail } from "../../map/js/rail.ts";
import { createSiteChoice } from "../../map/js/siteChoice.ts";
import { createTooltip } from "../../map/js/tooltip.ts";
import { createTransport } from "../../map/js/transport.ts";
import { listenToKeys } from "../../page/js/keyboard.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import { labelOf } from "../../trace/js/label.ts";
import { FULL_WEIGHT } from "../../trace/js/look.ts";
import { createSelectionReport } from "../../trace/js/selectionReport.ts";
import { shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Site } from "../../trace/js/trace.ts";
import { giveSize } from "../../trace/js/traceContext.ts";
import { shareScale, synchronise } from "./comparison.ts";
import {
  comparisonColumn,
  createOutputs,
  createSide,
  MAPS_BESIDE,
  RAIL_BESIDE,
  type Side,
} from "./comparisonSides.ts";
import { pairTable } from "./comparisonTables.ts";
import { createHeadPairs, type HeadPairs, type Rule } from "./headPairs.ts";
import { viewListeners } from "./listeners.ts";
import { pairFigure } from "./pairFigure.ts";
import { createSimilarityMatrix } from "./similarityMatrix.ts";
import { createValueMap } from "./valueMap.ts";
import {
  closeContext,
  createViewFrame,
  drawView,
  type Listeners,
  showTrace,
  type ViewFrame,
  watchFrame,
} from "./viewFrame.ts";
import { type HeadValues, readViewPayload, type ViewPayload } from "./viewPayload.ts";

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
 */
function openModelComparison(
  parent: HTMLElement | ShadowRoot,
  payload: ViewPayload,
  listeners: Listeners,
): View<ViewPayload, Listeners> {
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
  original.parts.push({ views: [() => changed.context.set(pairs.other())] });
  placeParts(frame, original, changed, pairs);
  const report = createSelectionReport(own, { more: () => otherOf(pairs, initial) });
  const [follow, followBack] = synchronise(own, changed.context, ["layer", "head"]);
  original.parts.push({ views: [follow, report] });
  changed.parts.push({ views: [followBack] });
  for (const { context, map, parts } of sides) {
    drawView(frame, context, parts);
    map.start();
  }
  watchFrame(frame, () => touchSize(sides), MAPS_BESIDE, RAIL_BESIDE);
  listenToKeys(own, { p: () => own.set({ projector: !own.state.projector }) });
  return {
    listen: (next) => {
      for (const { context } of sides) Object.assign(context.options, next);
    },
    update: (next) => {
      frame.give({ payload: next });
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

function touchSize(sides: Side[]) {
  for (const { context } of sides) giveSize(context);
}

/** The head of the second model that a link names. */
function choosePair(pairs: HeadPairs, { header }: ViewPayload) {
  if (header.pair) pairs.choose({ layer: header.pair[0], head: header.pair[1] });
}

/**
 * What the app is told of the pair: the head of the second side where it is not the one that the
 * comparison opens with.
 */
function otherOf(pairs: HeadPairs, initial: Rule) {
  const place = pairs.rule() === initial ? pairs.chosen() : pairs.other();
  return { other: place && place.head >= 0 ? [place.layer, place.head] : null };
}

/** Make every part, put it in its place, and add it to those drawn with its trace. */
function placeParts(frame: ViewFrame, original: Side, changed: Side, pairs: HeadPairs) {
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
    },
    pairs.follow,
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
}

/** The menu that saves both maps and their difference. */
function savePair(frame: ViewFrame, original: Side, changed: Side, pairs: HeadPairs) {
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

/** The weights of the two heads on screen as CSV. */
function tableOfPair(frame: ViewFrame, original: Side, changed: Side, difference: Float32Array) {
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

/** The names of the two heads on screen. */
function headsShown(original: Side, changed: Side) {
  const [own, other] = [original.context, changed.context].map((context) =>
    shownName(context, context.state.layer, context.state.head),
  );
  return { own, other };
}

/** The token at a position; of two texts, both tokens where they differ. */
function tokenPair(
  frame: ViewFrame,
  original: Side,
  changed: Side,
  side: "queryTokens" | "keyTokens",
  position: number,
) {
  const [own, other] = [original, changed].map(
    ({ context }) => context.trace.sites[original.context.state.site]?.[side][position],
  );
  if (own === undefined || other === undefined || own === other) return labelOf(own ?? "");
  return frame.say("pair_tokens", { a: labelOf(own), b: labelOf(other) });
}

/**
 * The weights of the second head minus those of the first; full colour is a difference of 1
 * whatever the pair, so that two pairs can be compared by eye.
 * @param site of the first trace
 */
function differenceOf(site: Site, { context }: Side, pairs: HeadPairs): HeadValues | null {
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
