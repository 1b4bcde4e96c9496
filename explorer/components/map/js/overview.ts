import { assign, element, type Part, positionRectangle, write } from "../../dom/js/element.ts";
import { createStore } from "../../dom/js/store.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import { siteOf } from "../../trace/js/stepState.ts";
import type { Cell, Picture, Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { partAround, partBetween, showPart, wholeMap, type Zoom } from "../../trace/js/zoom.ts";
import type { createHeadPictures, HeadPictures } from "./headPictures.ts";
import { isLargeMap } from "./largeMap.ts";
import { cellUnder, markStep } from "./rail.ts";
import { paintThumbnail } from "./thumbnail.ts";

const EDGE = { desk: 112, projector: 168 }; // px of the longer side
const SMALLEST = 40; // px of the other
const CLICK_SLACK = 4; // px a pointer may move between press and release of a click

/**
 * All heads of a long text in one picture, their mean, on which a part of the text is chosen: the
 * map and the pictures of the heads then show that part.
 */
export function createOverview(
  context: TraceContext,
  heads: ReturnType<typeof createHeadPictures>,
): Part {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const frame = element("span", { class: "part-frame", testid: "part-frame" });
  const marks = ["cover", "tick", "key-mark"].map((name) => element("i", { class: name }));
  const box = element("div", { class: "overview-picture", testid: "overview-picture" });
  box.append(canvas, ...marks, frame);
  const name = element("p", { class: "overview-name" });
  const fields = createFields(context);
  const side = element("div", { class: "overview-side" }, name, fields.element);
  const node = element("section", { class: "overview", testid: "overview" }, box, side);
  const { drawn, size } = createDrag(context, box);
  const offered = () => isLargeMap(siteOf(context));
  const draw = () => {
    node.hidden = !offered();
    if (node.hidden) return;
    const site = siteOf(context);
    const picture = meanOf(site, heads(null));
    const tone = tones(picture.weights, picture.keys, scaleOf(context.state, site));
    const { palette } = context;
    const { width, height } = size();
    node.style.setProperty("--thumb-width", `${width}px`);
    node.style.setProperty("--thumb-height", `${height}px`);
    const thumbnail = { unit: width / site.keys, width, height };
    paintThumbnail(canvas, picture, { size: thumbnail, palette, tone, removed: false });
    const facts = { count: site.layers * site.heads };
    write(name, context.say("overview", facts));
    assign(box, "title", context.say("overview_title", facts));
  };
  const mark = () => {
    if (offered()) markStep(context, node, size(), wholeMap(siteOf(context)));
  };
  const drawFrame = () => {
    const part = drawn() ?? context.state.zoom;
    frame.hidden = !part;
    if (!part || !offered()) return;
    const { queries, keys } = siteOf(context);
    const { width, height } = size();
    const [across, down] = [width / keys, height / queries];
    const [first, last, firstKey, lastKey] = part;
    const [left, top] = [firstKey * across, first * down];
    positionRectangle(
      frame,
      left,
      top,
      (lastKey + 1 - firstKey) * across,
      (last + 1 - first) * down,
    );
  };
  return { element: node, views: [draw, mark, drawFrame, ...(fields.views ?? [])] };
}

/** A part is drawn with the pointer; a click moves it there. */
function createDrag(context: TraceContext, box: HTMLElement) {
  const { values, set } = createStore<{ drawn: Zoom | null }>({ drawn: null });
  let pressed: { cell: Cell; x: number; y: number } | null = null;
  const cellAt = (event: PointerEvent) => cellUnder(box, event, wholeMap(siteOf(context)));
  box.addEventListener("pointerdown", (event) => {
    pressed = { cell: cellAt(event), x: event.clientX, y: event.clientY };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (!pressed) return;
    const moved = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK_SLACK;
    if (moved || values.drawn)
      set({ drawn: partBetween(siteOf(context), pressed.cell, cellAt(event)) });
  });
  const end = () => {
    pressed = null;
    set({ drawn: null });
  };
  box.addEventListener("pointerup", () => {
    if (!pressed) return;
    const site = siteOf(context);
    showPart(context, values.drawn ?? partAround(site, context.state.zoom, pressed.cell));
    end();
  });
  box.addEventListener("pointercancel", end);
  const size = () => {
    const { queries, keys } = siteOf(context);
    const edge = EDGE[context.state.projector ? "projector" : "desk"];
    const side = (cells: number) =>
      Math.max(Math.round((edge * cells) / Math.max(queries, keys)), SMALLEST);
    return { width: side(keys), height: side(queries) };
  };
  return { drawn: () => values.drawn, size };
}

/** The part in numbers, from 1: "513–640" of the rows and of the columns. */
function createFields(context: TraceContext): Part {
  const { say } = context;
  const [rows, columns] = ["rows", "columns"].map((name) =>
    element("input", {
      class: "field",
      type: "text",
      testid: `part-${name}`,
      title: say(`part_${name}_title`),
    }),
  );
  const line = (name: string, input: HTMLInputElement) =>
    element("label", { class: "part-line" }, element("span", {}, say(name)), input);
  const node = element(
    "div",
    { class: "part-fields" },
    line("part_rows", rows),
    line("part_columns", columns),
  );
  const draw = () => {
    const part = context.state.zoom ?? wholeMap(siteOf(context));
    const [first, last, firstKey, lastKey] = part.map((position) => position + 1);
    rows.value = `${first}–${last}`;
    columns.value = `${firstKey}–${lastKey}`;
  };
  node.addEventListener("change", () => {
    const [queries, keys] = [endsIn(rows.value), endsIn(columns.value)];
    const part =
      queries &&
      keys &&
      partBetween(
        siteOf(context),
        { query: queries[0], key: keys[0] },
        { query: queries[1], key: keys[1] },
      );
    if (!part || !showPart(context, part)) draw();
  });
  return { element: node, views: [draw] };
}

/** First and last position, from 0, of a text such as "513–640", or "513" alone; null of another. */
export function endsIn(text: string): [number, number] | null {
  const found = /^\s*(\d{1,5})(?:\s*[-–—]\s*(\d{1,5}))?\s*$/.exec(text);
  return found && [Number(found[1]) - 1, Number(found[2] ?? found[1]) - 1];
}

/** The mean of all heads, by pixel of their pictures. */
export function meanOf(site: Site, { of }: HeadPictures): Picture {
  const { queries, keys, masked: first } = of(0, 0);
  const sums = new Float64Array(queries * keys);
  const masked = first.slice();
  for (let layer = 0; layer < site.layers; layer += 1) {
    for (let head = 0; head < site.heads; head += 1) {
      const one = of(layer, head);
      for (let pixel = 0; pixel < sums.length; pixel += 1) {
        sums[pixel] += one.weights[pixel];
        if (!one.masked[pixel]) masked[pixel] = 0;
      }
    }
  }
  const weights = Uint16Array.from(sums, (sum) => Math.round(sum / (site.layers * site.heads)));
  return { queries, keys, weights, masked };
}
