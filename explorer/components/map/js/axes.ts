import { element } from "../../dom/js/element.ts";
import { markTerm, writeWithTerm } from "../../dom/js/terms.ts";
import { shownPrediction, strongestKey, tokenHidden } from "../../trace/js/guess.ts";
import { firstTerm, writeToken } from "../../trace/js/label.ts";
import {
  currentRow,
  isGiven,
  predictionsOf,
  shownKeys,
  shownRows,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { forcedRows } from "../../trace/js/unitChoice.ts";
import {
  cellSize,
  type Geometry,
  labelled,
  measuringPen,
  SMALLEST_AXIS,
  textWidth,
  xOf,
  yOf,
} from "./geometry.ts";

import type { Space } from "./space.ts";

export type Labels = Map<number, HTMLElement>; // by position

/** The tokens along the map: queries left, keys on top, predictions right. */
export function createAxes(context: TraceContext, space: Space) {
  const { say } = context;
  const keyTitle = element("span", { class: "axis-title" });
  writeWithTerm(keyTitle, say("axis_key"), "term_key", say);
  const queryWords = element("span");
  const arrow = element("span", { class: "arrow" }, say("axis_query").slice(-1));
  const queryTitle = element("span", { class: "axis-title upright" }, queryWords, arrow);
  const predictTitle = element(
    "span",
    { class: "axis-title", title: say("predicts_title") },
    say("predicts"),
  );
  const node = element(
    "div",
    { class: "axes", "aria-hidden": "true" },
    keyTitle,
    queryTitle,
    predictTitle,
  );
  const labels: { query: Labels; key: Labels; predicted: Labels } = {
    query: new Map(),
    key: new Map(),
    predicted: new Map(),
  };
  const drawTitles = (geometry: Geometry) => {
    const end = geometry.left + geometry.width;
    keyTitle.style.transform = `translate(${geometry.left}px, 0)`;
    queryTitle.style.transform = `translate(0, ${geometry.top}px)`;
    const most = geometry.box.height - geometry.top;
    const along = Math.min(Math.max(geometry.height, SMALLEST_AXIS), most);
    const pen = measuringPen(`${geometry.font}px ${context.palette.font}`);
    const fits = textWidth(pen, say("axis_query")) + geometry.font / 2 < along; // its arrow is wider
    const words = say(fits ? "axis_query" : "axis_query_short").slice(0, -1);
    writeWithTerm(queryWords, words, "term_query", say);
    queryTitle.style.maxHeight = `${along}px`;
    predictTitle.style.transform = `translate(${end + 6}px, 0)`;
    predictTitle.style.maxWidth = `${geometry.box.width - end - 6}px`;
    predictTitle.hidden = predictionsOf(context).length === 0;
  };
  const views = [
    space.view(drawTitles),
    space.view((geometry) => drawQueries(context, node, geometry, labels)),
    space.view((geometry) => drawKeys(context, node, geometry, labels.key)),
  ];
  return { element: node, views };
}

/** Keep exactly the labels of `positions`: make the missing ones, remove the others. */
function keepLabels(parent: HTMLElement, labels: Labels, positions: Set<number>, name: string) {
  for (const [position, node] of labels) {
    if (!positions.has(position)) {
      node.remove();
      labels.delete(position);
    }
  }
  for (const position of positions) {
    if (labels.has(position)) continue;
    const node = element("bdi", { class: `axis-label token ${name}` });
    labels.set(position, node);
    parent.append(node);
  }
}

/** Labels of the rows, and what each predicts. */
function drawQueries(
  context: TraceContext,
  parent: HTMLElement,
  geometry: Geometry,
  labels: { query: Labels; predicted: Labels },
) {
  const { trace, state } = context;
  const site = siteOf(context);
  const [row, shown] = [currentRow(context), shownRows(context)];
  const predicted = predictionsOf(context);
  const forced = predicted.length ? forcedRows(context) : new Set();
  const decoder = state.site !== "encoder";
  const height = cellSize(geometry).height;
  const wanted = [row, state.hover?.query ?? -1].filter((position) => position >= 0);
  const positions = labelled(site.queries, geometry.y, height, geometry.querySpacing, wanted);
  keepLabels(parent, labels.query, positions, "query-label");
  for (const [position, node] of labels.query) {
    writeToken(node, position < shown ? site.queryTokens[position] : "·");
    markTerm(node, position < shown ? firstTerm(site.queryTokens, position) : null);
    markQuery(node, position, row, decoder && position < shown && forced.has(position - 1));
    node.classList.toggle("ahead", decoder && row >= 0 && position > row);
    node.classList.toggle("given", decoder && position < Math.min(trace.prompt, shown));
    node.style.width = `${geometry.queryRoom}px`;
    const x = geometry.left - geometry.queryRoom - 8;
    node.style.transform = `translate(${x}px, ${labelTop(geometry, position, height)}px)`;
  }
  const rows = [...positions].filter((position) => position < shown && predicted[position]);
  keepLabels(parent, labels.predicted, new Set(rows), "predicted-label");
  for (const [position, node] of labels.predicted) {
    writeToken(node, shownPrediction(context, position), "→ ");
    markQuery(node, position, row, forced.has(position) && !tokenHidden(context, position));
    node.classList.toggle("ahead", decoder && row >= 0 && position > row);
    node.classList.toggle("given", isGiven(trace, position));
    node.style.width = `${geometry.predictedRoom - 8}px`;
    const x = geometry.left + geometry.width + 8;
    node.style.transform = `translate(${x}px, ${labelTop(geometry, position, height)}px)`;
  }
}

/** Mark the label of the current row, and tokens that were set. */
function markQuery(node: HTMLElement, position: number, row: number, forced: boolean) {
  node.classList.toggle("forced", forced);
  node.classList.toggle("current", position === row);
}

/** Top of a row's label, which is centred in its row. */
function labelTop(geometry: Geometry, position: number, height: number) {
  return geometry.top + yOf(geometry, position) + height / 2 - geometry.font * 0.7;
}

/** Labels of the columns. */
function drawKeys(context: TraceContext, parent: HTMLElement, geometry: Geometry, labels: Labels) {
  const { state } = context;
  const site = siteOf(context);
  const shown = shownKeys(context);
  const width = cellSize(geometry).width;
  const hovered = state.hover?.key ?? null;
  const wanted = wantedKeys(hovered, strongestKey(context), geometry.keySpacing / width);
  const positions = labelled(site.keys, geometry.x, width, geometry.keySpacing, wanted);
  keepLabels(parent, labels, positions, "key-label");
  for (const [position, node] of labels) {
    writeToken(node, position < shown ? site.keyTokens[position] : "·");
    markTerm(node, position < shown ? firstTerm(site.keyTokens, position) : null);
    node.classList.toggle("hovered", hovered === position);
    const prompt = site.name === "decoder" ? context.trace.prompt : 0;
    node.classList.toggle("given", position < Math.min(prompt, shown));
    node.classList.toggle("rotated", geometry.rotated);
    node.style.maxWidth = geometry.rotated ? `${geometry.keyRoom * 1.15}px` : "";
    const x = geometry.left + xOf(geometry, position) + width / 2;
    const y = geometry.top - 4 - geometry.font * 1.4;
    node.style.transform = geometry.rotated
      ? `translate(${x + 2}px, ${y}px) rotate(-55deg)`
      : `translate(${x}px, ${y}px) translateX(-50%)`;
  }
}

/**
 * Which keys have a label whatever the space: the hovered one, and the one most looked at unless
 * its label would lie on that.
 * @param looked -1 for none
 * @param apart keys from one label to the next
 */
function wantedKeys(hovered: number | null, looked: number, apart: number) {
  const free = looked >= 0 && (hovered === null || Math.abs(hovered - looked) >= apart);
  return [...(hovered === null ? [] : [hovered]), ...(free ? [looked] : [])];
}
