import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { LAYER_LABEL, LAYER_TARGET, PHONE_WIDTH, THUMBNAIL_EDGE } from "../../dom/js/lengths.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { computed, measured, whenOther } from "../../dom/js/store.ts";
import { markTerm } from "../../dom/js/terms.ts";
import { reachOf } from "../../trace/js/contributions.ts";
import { editHead } from "../../trace/js/editing.ts";
import { visibleRows, weightsHidden } from "../../trace/js/guess.ts";
import { goldWeight } from "../../trace/js/headScores.ts";
import { MEAN } from "../../trace/js/look.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import {
  currentRow,
  headAt,
  isHeld,
  isSimple,
  layerNumber,
  shownMethod,
  shownName,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { Cell, Replacement, Site, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { Zoom } from "../../trace/js/zoom.ts";
import { sharedShape } from "./geometry.ts";
import { createHeadPictures, type HeadPictures } from "./headPictures.ts";
import {
  paintThumbnail,
  SMALLEST_THUMBNAIL,
  type ThumbnailSize,
  thumbnailSize,
} from "./thumbnail.ts";
import { clearHover, setHover } from "./tooltip.ts";

/** Thumbnails, and how many are in a line. */
type RailLayout = ThumbnailSize & { columns: number };

/** How thumbnails fit into their space. */
interface Fitted {
  layout: RailLayout;
  named: boolean; // whether the names of the heads are above the columns
  larger: number; // the type than that of a desk
  scored: boolean; // whether there are numbers below them
}

type Removal = (layer: number, head: number) => Replacement | null;

/** The numbers under the thumbnails of an attention that is compared with the gold alignment. */
interface GoldNumbers {
  weight: (layer: number, head: number) => number | null;
  title: (head: string, weight: number) => string;
  axes?: string; // what the pictures and the numbers show
}

const LARGEST_THUMBNAIL = 200;
const STRETCH = 1.6; // of one side of a thumbnail, where its cells then fill the space
const TIGHT_THUMBNAIL = 46; // px; below, a score leaves no space for the head's number
const SCORE_HEIGHT = 17;
const MEAN_HEIGHT = 58; // px of the name of a layer with the word under it
const GAP = 1;
const GRID_EDGE = 2;
const LARGER = 1.4; // type of a projector
const WORTH_A_LINE = 1.3; // a layer is broken into more lines only for this much larger pictures

/**
 * Thumbnails of all heads of the chosen attention, the selected one ringed.
 * @param shown.gold as they are measured elsewhere on the page; else those of the trace
 * @param shown.without the trace whose removed heads are crossed out; else that of `context`
 */
export function createRail(
  context: TraceContext,
  {
    gold = goldOfTrace(context),
    without = () => context.trace,
    heads = createHeadPictures(context),
  }: {
    gold?: GoldNumbers;
    without?: () => Trace;
    heads?: ReturnType<typeof createHeadPictures>;
  } = {},
): Part {
  const { say } = context;
  const removal: Removal = (layer, head) =>
    without().sites[context.state.site]?.removed(layer, head) ?? null;
  const axes = element("div", { class: "mini-axes", title: say("mini_axes_title") });
  const grid = element("div", { class: "heads", testid: "heads", role: "group" });
  const node = element("section", { class: "rail", "aria-label": say("heads") }, axes, grid);
  const shown = () => heads(context.state.zoom);
  const fitted = computed(fitIn(context, grid, gold));
  const made = computed(() => {
    const [{ numbers, heads }, { named, scored }] = [siteOf(context), fitted()];
    return JSON.stringify([numbers, heads, named, scored, isSimple(context)]);
  });
  let buttons: { made: string; all: HTMLElement[] } = { made: "", all: [] };
  const selectable = () => {
    if (buttons.made !== made()) buttons = { made: made(), all: headButtons(grid) };
    return buttons.all;
  };
  const selected = () => grid.querySelector<HTMLElement>(`[data-head="${selectedName(context)}"]`);
  const place = measured(() => {
    const { offsetLeft = 0, offsetTop = 0 } = selected() ?? {};
    return [offsetLeft, offsetTop, grid.clientWidth, grid.clientHeight].join();
  });
  const bringSelected = () => {
    const frame = selected();
    if (frame) bringIntoView(grid, frame);
  };
  followArrows(grid, () => headButtons(grid), { press: () => !context.state.edit });
  grid.addEventListener("pointermove", (event) => hoverThumbnail(context, event, shown().part));
  grid.addEventListener("pointerleave", (event) => clearHover(context, event));
  return {
    element: node,
    views: [() => nameAxes(context, axes, gold)],
    pictures: [
      () => buildRail(context, grid, fitted(), { made: made(), gold, removal }),
      () => paintThumbnails(context, grid, { layout: fitted().layout, heads: shown(), removal }),
      () => markSelected(context, grid, selectable()),
      () => markStep(context, grid, fitted().layout, shown().part),
    ],
    after: [whenOther(() => [selectedName(context), place()], bringSelected)],
  };
}

/** Say what the pictures and their numbers are; the numbers are a technical word. */
function nameAxes(context: TraceContext, axes: HTMLElement, gold: GoldNumbers) {
  write(axes, axesText(context, gold));
  markTerm(axes, !shownMethod(context) && isScored(context, gold) ? "gold_weight" : null);
}

/**
 * What rows and columns of the pictures are, and their numbers; beside a map of contributions, that
 * the pictures stay weights.
 */
function axesText(context: TraceContext, gold: GoldNumbers) {
  const { say } = context;
  if (shownMethod(context)) return say("mini_axes_weights");
  const sites = say(sitesText(context));
  return isScored(context, gold) ? (gold.axes ?? say("mini_axes_gold", { sites })) : sites;
}

/** Who looks at whom, of a model that has a source and a target. */
function sitesText({ trace, state }: TraceContext) {
  return `mini_axes_${trace.source.length && trace.target.length ? state.site : "alone"}`;
}

/** The width of the name of a layer, which on a phone is large enough for a finger. */
function labelWidth() {
  return window.matchMedia(`(max-width: ${PHONE_WIDTH}px)`).matches ? LAYER_TARGET : LAYER_LABEL;
}

/**
 * The largest thumbnails with which every head fits.
 * @param width for all heads
 * @param height for all heads
 * @param larger factor of the type size
 */
function fitThumbnails(
  width: number,
  height: number,
  site: Pick<Site, "layers" | "heads" | "queries" | "keys">,
  larger: number,
): RailLayout {
  const longest = Math.max(site.queries, site.keys);
  const smallest = SMALLEST_THUMBNAIL * larger;
  const largest = Math.min(LARGEST_THUMBNAIL, Math.max(44, longest * 22));
  let best = { edge: 0, columns: 1, across: smallest, down: smallest };
  for (let lines = 1; lines <= site.heads; lines += 1) {
    const columns = Math.ceil(site.heads / lines);
    const across = (width - labelWidth()) / columns - THUMBNAIL_EDGE - GAP;
    const down = height / (lines * site.layers) - THUMBNAIL_EDGE - SCORE_HEIGHT * larger - 6;
    if (across < smallest) continue;
    const edge = Math.min(largest, (across * longest) / site.keys, (down * longest) / site.queries);
    if (edge > best.edge * WORTH_A_LINE) best = { edge, columns, across, down };
  }
  if (best.edge < smallest) {
    const most = Math.floor((width - labelWidth()) / (smallest + THUMBNAIL_EDGE + GAP));
    const lines = Math.ceil(site.heads / Math.max(most, 1)); // and then the rail scrolls
    best = { ...best, edge: smallest, columns: Math.ceil(site.heads / lines) };
  }
  const size = thumbnailSize(best.edge, site, smallest);
  const stretched = (side: number, most: number) =>
    Math.max(side, Math.min(side * STRETCH, most, largest));
  return {
    unit: size.unit,
    width: stretched(size.width, best.across),
    height: stretched(size.height, best.down),
    columns: best.columns,
  };
}

/**
 * The width that a rail makes use of, px.
 * @param most px that it may have
 * @param height px for all heads
 */
export function railWidth({ trace, state }: TraceContext, most: number, height: number) {
  const larger = state.projector ? LARGER : 1;
  const { width, columns } = fitThumbnails(most, height, sharedShape(trace), larger);
  return Math.ceil(columns * (width + THUMBNAIL_EDGE + GAP) + labelWidth() + GRID_EDGE);
}

/** The gold weights of the trace on screen. */
function goldOfTrace(context: TraceContext): GoldNumbers {
  return {
    weight: (layer, head) => goldWeight(context.trace, siteOf(context), layer, head),
    title: (head, weight) => {
      const facts = { head, number: shortWeight(weight), weight: weight.toFixed(3) };
      return context.say("gold_title", facts);
    },
  };
}

/** How the thumbnails fit into the grid, or above the maps. They have one size in all attentions. */
function fitIn(context: TraceContext, grid: HTMLElement, gold: GoldNumbers): () => Fitted {
  const above = measured(() => context.root.dataset.railAbove !== undefined);
  const width = measured(() => grid.clientWidth - GRID_EDGE);
  const height = measured(() => grid.clientHeight - GRID_EDGE);
  return () => {
    const shape = sharedShape(context.trace);
    const larger = context.state.projector ? LARGER : 1;
    const scored = isScored(context, gold);
    const size = thumbnailSize(72, shape, SMALLEST_THUMBNAIL);
    const fitted = above()
      ? { layout: { ...size, columns: siteOf(context).heads }, named: false }
      : fitNamed({ width: width(), height: height() }, shape, larger, scored);
    return { ...fitted, larger, scored };
  };
}

/**
 * Lay the thumbnails out, layer by layer. They stay as elements from one trace to the next of its
 * shape: new ones would cost more than all else that is drawn.
 * @param given.made of what they are made
 */
function buildRail(
  context: TraceContext,
  grid: HTMLElement,
  { layout, named, larger, scored }: Fitted,
  { made, gold, removal }: { made: string; gold: GoldNumbers; removal: Removal },
) {
  const site = siteOf(context);
  grid.style.setProperty("--thumb-width", `${layout.width}px`);
  grid.style.setProperty("--thumb-height", `${layout.height}px`);
  grid.style.setProperty("--columns", String(layout.columns));
  grid.classList.toggle("tight", isTight(layout, larger));
  const lines = Math.ceil(site.heads / layout.columns);
  grid.classList.toggle(
    "low",
    lines * (layout.height + SCORE_HEIGHT + THUMBNAIL_EDGE) < MEAN_HEIGHT,
  );
  if (grid.dataset.made !== made) {
    const layers = site.numbers.map((_, layer) => layerOfHeads(context, site, layer, scored));
    grid.replaceChildren(...(named ? [columnNames(site)] : []), ...layers);
    grid.dataset.made = made;
  }
  grid.querySelectorAll(".thumbnail").forEach((frame, index) => {
    const { layer, head } = headAt(index, site.heads);
    nameThumbnail(context, frame, gold, { layer, head, removed: removal(layer, head) });
  });
}

/** The name of a layer and its thumbnails. */
function layerOfHeads(context: TraceContext, site: Site, layer: number, scored: boolean) {
  const heads = Array.from({ length: site.heads }, (_, head) =>
    thumbnail(context, layer, head, scored),
  );
  return element(
    "div",
    { class: "layer" },
    layerName(context, site, layer),
    element("div", { class: "layer-heads" }, ...heads),
  );
}

/** Whether there are numbers under the thumbnails. */
function isScored(context: TraceContext, gold: GoldNumbers) {
  return !isSimple(context) && gold.weight(0, 0) !== null;
}

/** Whether a score leaves no space for the name of its head. */
function isTight({ width }: ThumbnailSize, larger: number) {
  return width < TIGHT_THUMBNAIL * larger;
}

/**
 * As `fitThumbnails`, with space for the names above the columns where scores leave none below the
 * thumbnails and a column has one head of each layer.
 */
function fitNamed(
  { width, height }: { width: number; height: number },
  site: Pick<Site, "layers" | "heads" | "queries" | "keys">,
  larger: number,
  scored: boolean,
): { layout: RailLayout; named: boolean } {
  const layout = fitThumbnails(width, height, site, larger);
  if (!scored || !isTight(layout, larger)) return { layout, named: false };
  const lower = fitThumbnails(width, height - SCORE_HEIGHT * larger, site, larger);
  const named = lower.columns === site.heads && isTight(lower, larger);
  return { layout: named ? lower : layout, named };
}

/** The names of the heads above their columns. */
function columnNames({ heads }: Pick<Site, "heads">) {
  const names = Array.from({ length: heads }, (_, head) =>
    element("span", { class: "head-name" }, `H${head}`),
  );
  return element(
    "div",
    { class: "layer column-names", testid: "column-names", "aria-hidden": "true" },
    element("span", {}),
    element("div", { class: "layer-heads" }, ...names),
  );
}

/**
 * The name of a layer; a click on it shows the mean of its heads, or what its keys contribute where
 * that is shown. In Simple it is a name alone.
 */
function layerName(context: TraceContext, site: Site, layer: number) {
  const { say, act } = context;
  const number = site.numbers[layer];
  if (site.heads === 1 || isSimple(context)) {
    const title = say("layer_title", { layer: number });
    const name = element("span", { title }, `L${number}`);
    if (layer === 0) markTerm(name, "term_layer");
    return element("span", { class: "layer-name" }, name);
  }
  return buttonElement(
    () => act.select(context.state.shows === "weight" ? { layer, head: MEAN } : { layer }),
    { class: "layer-name", testid: `mean-${layer}`, "data-head": `${layer}/${MEAN}` },
    element("span", {}, `L${number}`),
    " ",
    element("span", { class: "mean-word" }),
  );
}

/** One head: its picture, the marks on it, its name and, if `scored`, its gold weight. */
function thumbnail(context: TraceContext, layer: number, head: number, scored: boolean) {
  const picture = element(
    "span",
    { class: "picture" },
    element("canvas", { "aria-hidden": "true" }),
    element("i", { class: "cover" }),
    element("i", { class: "tick" }),
    element("i", { class: "key-mark" }),
  );
  return buttonElement(
    () => {
      if (context.state.edit) editHead(context, layer, head);
      else context.act.select({ layer, head });
    },
    {
      class: "thumbnail",
      testid: `head-${layer}-${head}`,
      "data-head": `${layer}/${head}`,
    },
    picture,
    element("span", { class: "head-name" }, `H${head}`),
    ...(scored ? [" ", element("span", { class: "score" })] : []),
  );
}

/** Write on a thumbnail what the trace says of its head. */
function nameThumbnail(
  context: TraceContext,
  frame: Element,
  gold: GoldNumbers,
  { layer, head, removed }: { layer: number; head: number; removed: Replacement | null },
) {
  const weight = isScored(context, gold) ? gold.weight(layer, head) : null;
  const name = shownName(context, layer, head);
  const measured = weight === null ? name : gold.title(name, weight);
  const held = isHeld(context, layer, head);
  const notes = [
    removed ? context.say(`removed_${removed}`) : "",
    held ? "" : context.say("not_in_page"),
  ];
  const title = [measured, ...notes].filter(Boolean).join(". ");
  for (const attribute of ["title", "aria-label"]) assign(frame, attribute, title);
  const score = frame.querySelector(".score");
  if (score) write(score, weight === null ? "" : shortWeight(weight));
  frame.classList.toggle("absent", !held);
}

/**
 * Hover the cell of a thumbnail under the pointer.
 * @param part of the map that the thumbnails show
 */
function hoverThumbnail(context: TraceContext, event: PointerEvent, part: Zoom) {
  const frame = event.target instanceof Element ? event.target.closest(".thumbnail") : null;
  const picture = frame?.querySelector(".picture");
  if (!(frame instanceof HTMLElement) || !picture) {
    clearHover(context, event);
    return;
  }
  const [layer, head] = (frame.dataset.head ?? "").split("/").map(Number);
  const { query, key } = cellUnder(picture, event, part);
  const inside = query >= part[0] && query <= part[1] && key >= part[2] && key <= part[3];
  const cell = { query, key, layer, head, x: event.clientX, y: event.clientY };
  setHover(context, inside && query < visibleRows(context) ? cell : null);
}

/** The cell under the pointer, in a picture of a part of the map. */
export function cellUnder(
  picture: Element,
  { clientX, clientY }: MouseEvent,
  [first, last, firstKey, lastKey]: Zoom,
): Cell {
  const box = picture.getBoundingClientRect();
  const [down, across] = [(clientY - box.top) / box.height, (clientX - box.left) / box.width];
  return {
    query: first + Math.floor(down * (last - first + 1)),
    key: firstKey + Math.floor(across * (lastKey - firstKey + 1)),
  };
}

/** Draw the weights of every head; not done at a step. */
function paintThumbnails(
  context: TraceContext,
  grid: HTMLElement,
  { layout, heads, removal }: { layout: RailLayout; heads: HeadPictures; removal: Removal },
) {
  const { palette } = context;
  const site = siteOf(context);
  const scale = scaleOf(context.state, site);
  grid.querySelectorAll("canvas").forEach((canvas, index) => {
    const { layer, head } = headAt(index, site.heads);
    const picture = heads.of(layer, head);
    const tone = tones(picture.weights, picture.keys, scale);
    const removed = removal(layer, head) !== null;
    paintThumbnail(canvas, picture, { size: layout, palette, tone, removed });
  });
}

/** The buttons of the rail: for each layer its mean, then its heads. */
function headButtons(grid: HTMLElement): HTMLElement[] {
  return [...grid.querySelectorAll("[data-head]")].filter((node) => node instanceof HTMLElement);
}

/** Ring the selected head, which is the only stop of the Tab key. */
function markSelected(context: TraceContext, grid: HTMLElement, all: HTMLElement[]) {
  const selected = selectedName(context);
  nameLayers(context, grid);
  for (const frame of all) {
    const chosen = frame.dataset.head === selected;
    frame.classList.toggle("selected", chosen);
    assign(frame, "aria-pressed", chosen ? "true" : "false");
  }
  markStop(
    all,
    all.find(({ dataset }) => dataset.head === selected),
  );
}

/** Say what the names of the layers show: the mean of the heads, or what all of them contribute. */
function nameLayers(context: TraceContext, grid: HTMLElement) {
  const { say } = context;
  const method = shownMethod(context);
  const shown = method ? reachOf(method) : "mean";
  grid.querySelectorAll(".layer-name[data-head]").forEach((button, layer) => {
    const number = layerNumber(context, layer);
    const title = say(`${shown}_title`, { layer: number });
    for (const name of ["title", "aria-label"]) assign(button, name, title);
    write(button.lastElementChild as Element, say(method ? `${shown}_word` : "mean"));
  });
}

/** The button of what is on screen; of all heads together, that of the layer. */
function selectedName(context: TraceContext) {
  const { layer, head } = context.state;
  const button = siteOf(context).heads > 1 ? MEAN : 0;
  return `${layer}/${shownMethod(context) ? button : head}`;
}

/** Scroll the rail, and nothing but the rail, until a head is visible. */
function bringIntoView(grid: HTMLElement, frame: Element) {
  const [outer, inner] = [grid.getBoundingClientRect(), frame.getBoundingClientRect()];
  const beyond = (low: number, high: number, from: number, to: number) =>
    Math.min(low - from, 0) + Math.max(high - to, 0);
  grid.scrollLeft += beyond(inner.left, inner.right, outer.left, outer.right);
  grid.scrollTop += beyond(inner.top, inner.bottom, outer.top, outer.bottom);
}

/**
 * The current row and the hovered key in every thumbnail, as properties of their parent. They are whole
 * pixels of the screen: of a long text, whose rows are thinner, few steps change any of the pictures.
 */
export function markStep(
  context: TraceContext,
  grid: HTMLElement,
  { width, height }: Pick<ThumbnailSize, "width" | "height">,
  [first, last, firstKey, lastKey]: Zoom,
) {
  const { state } = context;
  const [rows, columns] = [last - first + 1, lastKey - firstKey + 1];
  const row = currentRow(context);
  const key = state.hover?.key ?? -1;
  grid.classList.toggle("stepping", row >= first && row <= last);
  const visible = row + (weightsHidden(context) ? 0 : 1);
  const ahead = state.ahead || siteOf(context).name === "encoder";
  grid.classList.toggle("covered", row >= 0 && !ahead && visible <= last);
  grid.classList.toggle("keyed", key >= firstKey && key <= lastKey);
  const end = Math.min(Math.max((visible - first) / rows, 0), 1);
  place(grid, "--row", onPixel((row - first) / rows, height));
  place(grid, "--row-end", onPixel(end, height));
  place(grid, "--row-size", 1 / rows);
  place(grid, "--key", onPixel((key - firstKey) / columns, width));
  place(grid, "--key-size", 1 / columns);
}

/** A share of a length, moved to the nearest pixel of the screen. */
function onPixel(share: number, length: number) {
  const pixels = length * (window.devicePixelRatio || 1);
  return pixels ? Math.round(share * pixels) / pixels : share;
}

/** Set a property that hundreds of elements inherit, where it differs. */
function place(node: HTMLElement, name: string, value: number) {
  const text = String(value);
  if (node.style.getPropertyValue(name) !== text) node.style.setProperty(name, text);
}
