import { saveMenu } from "../../dom/js/saveMenu.ts";
import { whenOther } from "../../dom/js/store.ts";
import { tableButton } from "../../dom/js/tableButton.ts";
import { figureButtons } from "../../figure/js/figureButtons.ts";
import { createRail } from "../../map/js/rail.ts";
import { streamlitComponent, type View } from "../../page/js/streamlitComponent.ts";
import type { TraceState } from "../../trace/js/initialState.ts";
import { labelOf } from "../../trace/js/label.ts";
import { FULL_WEIGHT } from "../../trace/js/look.ts";
import { createSelectionReport, streamlitReports } from "../../trace/js/selectionReport.ts";
import { shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Site } from "../../trace/js/trace.ts";
import { synchronise } from "./comparison.ts";
import {
  type Comparison,
  createComparison,
  createOutputs,
  placeComparison,
  type Side,
  showComparison,
} from "./comparisonSides.ts";
import { pairTable, patchedTable } from "./comparisonTables.ts";
import { createHeadPairs, type HeadPairs, type Rule } from "./headPairs.ts";
import { pairFigure } from "./pairFigure.ts";
import { patchedFigure } from "./patchedFigure.ts";
import { createPatchedTables } from "./patchedTables.ts";
import { createSimilarityMatrix, type HeadPair } from "./similarityMatrix.ts";
import { createValueMap, type HeadDifferences } from "./valueMap.ts";
import type { Listeners } from "./viewFrame.ts";
import { readViewPayload, type ViewPayload } from "./viewPayload.ts";

/** A text in two models as a Streamlit component. */
export default streamlitComponent({
  read: readViewPayload,
  identity: ({ header }) => [header.language, header.rule, ...(header.names ?? [])].join("\n"),
  listeners: streamlitReports,
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
  const comparison = createComparison(parent, payload, listeners);
  const { frame, original, changed } = comparison;
  frame.root.classList.add("comparison");
  const { context: own } = original;
  const initial = payload.header.rule ?? "matched";
  const similar = () => frame.payload.header.similar ?? {};
  const pairs = createHeadPairs(similar, own, changed.context, initial);
  choosePair(pairs, payload);
  original.parts.push({ views: [() => changed.context.set(pairs.other())] });
  placeParts(comparison, pairs);
  const report = createSelectionReport(own, () => otherOf(pairs, initial));
  const [follow, followBack] = synchronise(own, changed.context);
  original.parts.push({ views: [follow, report] });
  changed.parts.push({ views: [followBack] });
  const view = showComparison(comparison);
  const update = (next: ViewPayload) => {
    view.update(next);
    choosePair(pairs, next);
  };
  return { ...view, update };
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

function placeParts(comparison: Comparison, pairs: HeadPairs) {
  const { frame, original, changed } = comparison;
  const { context } = original;
  const { names: [a, b] = ["", ""], given } = frame.payload.header;
  const difference = createValueMap(context, frame, {
    read: (which) => differenceOf(which, changed, pairs),
    facts: () => headsShown(comparison),
    tokenOf: (side, position) => tokenPair(comparison, side, position),
    isRemoved: () => {
      const { layer, head } = pairs.other();
      return siteOf(changed.context).removed(layer, head) !== null;
    },
  });
  const showHeads = ({ own, other }: HeadPair) => {
    context.set(own);
    pairs.choose(other);
  };
  const matrix = createSimilarityMatrix([context, changed.context], frame, pairs, showHeads);
  const showPatched = (patch: Partial<TraceState>) => {
    pairs.follow("same");
    context.act.pause();
    context.act.select({ step: explainedStep(comparison), ...patch });
    changed.context.set({ hover: patch.hover ?? null });
  };
  const patched = createPatchedTables(context, frame, showPatched, savePatched(comparison));
  original.parts.push(patched, { views: [followPatched(comparison)] });
  placeComparison(comparison, {
    rail: createRail(context, { without: () => changed.context.trace }),
    outputs: createOutputs(
      () => [a, b],
      () => frame.payload.header.outputs ?? [[], []],
    ),
    difference,
    headings: [a, given || b, frame.say("comparison_pair")],
    tools: [savePair(comparison, pairs), patched.element],
    below: [matrix],
  });
}

/** Show the step that patching explains when it is asked for, not where a link has opened it. */
function followPatched(comparison: Comparison) {
  const { frame, original } = comparison;
  let opened = false;
  return whenOther(
    () => [frame.payload.header.patched?.step, frame.payload.header.patched?.prefix],
    () => {
      if (opened && frame.payload.header.patched) {
        original.context.act.pause();
        original.context.act.select({ step: explainedStep(comparison) });
      }
      opened = true;
    },
  );
}

/** The step that patching explains; without one, that on screen. */
function explainedStep({ frame, original }: Comparison) {
  const { state, trace } = original.context;
  return Math.min(frame.payload.header.patched?.step ?? state.step, trace.steps || state.step);
}

/** The menu that saves both maps and their difference. */
function savePair(comparison: Comparison, pairs: HeadPairs) {
  const { frame, original, changed } = comparison;
  const { context } = original;
  const contexts = [context, changed.context];
  const fileName = () => {
    const { own, other } = headsShown(comparison);
    return `compare-${context.state.site}-${own}-${other}`.replaceAll(" ", "-");
  };
  const shownDifference = () => {
    const { layer, head } = context.state;
    return differenceOf(siteOf(context), changed, pairs)?.(layer, head) ?? null;
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
      return values && tableOfPair(comparison, values);
    },
    fileName,
    prefix: "pair-",
    title: frame.say("pair_csv_title"),
  });
  return saveMenu(context.say, context.signal, [...figures, table]);
}

/** The menu that saves what was patched of two texts. */
function savePatched({ frame, original, changed }: Comparison) {
  const { say, signal } = original.context;
  const contexts = [original.context, changed.context];
  const shown = () => frame.payload.header.patched ?? null;
  const ofHeads = () => shown()?.tables.every(({ tokens }) => tokens.length === 0);
  const fileName = () => `patched-${ofHeads() ? "heads" : "positions"}`;
  const figures = figureButtons(say, {
    figure: (width) => {
      const patched = shown();
      return patched && patchedFigure(contexts, frame, patched, width);
    },
    fileName,
    prefix: "patched-",
  });
  const table = tableButton(say, {
    table: () => {
      const patched = shown();
      return patched && patchedTable(patched);
    },
    fileName,
    prefix: "patched-",
    title: frame.say("patched_csv_title"),
  });
  return saveMenu(say, signal, [...figures, table]);
}

/** The weights of the two heads on screen as CSV. */
function tableOfPair(comparison: Comparison, difference: Float32Array) {
  const { frame, original, changed } = comparison;
  const [a, b] = frame.payload.header.names ?? ["", ""];
  const { own, other } = headsShown(comparison);
  const [first, second] = [original, changed].map(({ context }) => {
    const { layer, head } = context.state;
    return { site: siteOf(context), layer, head };
  });
  return pairTable(
    [`${a} ${own}`, `${b} ${other}`],
    [first, second],
    difference,
    (side, position) => tokenPair(comparison, side, position),
  );
}

/** The names of the two heads on screen. */
function headsShown({ original, changed }: Comparison) {
  const [own, other] = [original.context, changed.context].map((context) =>
    shownName(context, context.state.layer, context.state.head),
  );
  return { own, other };
}

/** The token at a position; of two texts, both tokens where they differ. */
function tokenPair(
  { frame, original, changed }: Comparison,
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
function differenceOf(site: Site, { context }: Side, pairs: HeadPairs): HeadDifferences | null {
  const second = context.trace.sites[site.name];
  if (!second) return null;
  return (layer, head) => {
    const other = pairs.other();
    const [one, two] = [site.weights(layer, head), second.weights(other.layer, other.head)];
    const [scale, otherScale] = [site.scale / FULL_WEIGHT, second.scale / FULL_WEIGHT];
    return Float32Array.from(one, (code, cell) => two[cell] * otherScale - code * scale);
  };
}
