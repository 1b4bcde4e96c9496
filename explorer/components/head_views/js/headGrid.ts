import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";

import { SMALL_PROJECTOR_TYPE, SMALL_TYPE, THUMBNAIL_EDGE } from "../../dom/js/lengths.ts";

import { shortNumber } from "../../dom/js/numbers.ts";
import { followArrows, markStop } from "../../dom/js/roving.ts";
import { createStore, measured, type Store, untracked } from "../../dom/js/store.ts";

import {
  paintThumbnail,
  SMALLEST_THUMBNAIL,
  shrunkTo,
  type ThumbnailSize,
  thumbnailSize,
} from "../../map/js/thumbnail.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import { headAt, shownName, siteOf } from "../../trace/js/stepState.ts";
import type { Site } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { type FilteredHead, filteredHeads, type HeadFilter, metricShown } from "./headFilter.ts";
import { numberLine, roleCaption } from "./headRoles.ts";
import { createHeadTooltip } from "./headTooltip.ts";
import type { ViewFrame } from "./viewFrame.ts";

interface HeadCell {
  button: HTMLButtonElement;
  picture: HTMLCanvasElement;
  name: HTMLElement;
  number: HTMLElement;
  role: HTMLElement;
}

/**
 * `slot`: px of a column; `tall`: whether name and role are written under the pictures; `wrapped`:
 * whether the heads of a layer take several rows.
 */
type HeadGridLayout = ThumbnailSize & {
  columns: number;
  tall: boolean;
  wrapped: boolean;
  slot: number;
};

/** What came of laying out. */
interface Laid {
  /** the same as long as pictures have as many pixels: they are not painted anew */
  layout: HeadGridLayout;
  buttons: HTMLElement[]; // of the heads that are shown, in their order
}

interface Grid {
  context: TraceContext;
  frame: ViewFrame;
  filter: HeadFilter;
  cells: HTMLElement;
  axes: HTMLElement;
  number: HTMLElement; // says what the numbers under the heads are
  tooltip: ReturnType<typeof createHeadTooltip>;
  byIndex: Map<number, HeadCell>; // in order of layer and head
  width: () => number; // of the cells, px
  height: () => number;
  laid: Store<Laid>;
}

const LARGEST_PICTURE = 320; // px
const SMALLEST_PICTURE = 30;
const STRETCH = 1.6; // of one side of a picture, where its cells then fill the space
const CAPTION = { tall: 50, short: 18 }; // px under a picture: name, number, two lines of roles, or a number
const ROOM_FOR_ROLE = 74; // px that a picture needs to have its role written under it
const LAYER_NAMES = 30; // px left of the pictures
const WORTH_WRAPPING = 1.15; // a layer takes several rows only for pictures of this much more area
const WORTH_A_ROLE = 1.6; // roles are left to the tooltip only for this much more

/** Every head of the site in one picture: layers down and heads across, or sorted by a number. */
export function createHeadGrid(
  context: TraceContext,
  frame: ViewFrame,
  filter: HeadFilter,
): Part & { tooltip: HTMLElement } {
  const axes = element("div", { testid: "head-grid-axes" });
  const number = element("div", { testid: "head-grid-number" });
  const cells = element("div", {
    class: "head-grid-cells",
    testid: "head-grid",
    role: "group",
    "aria-label": context.say("heads"),
  });
  const node = element(
    "section",
    { class: "head-grid-panel" },
    element("div", { class: "head-grid-about" }, axes, number),
    cells,
  );
  const tooltip = createHeadTooltip(context, frame, filter);
  const layout = { unit: 1, width: 0, height: 0, columns: 1, tall: false, wrapped: false, slot: 0 };
  const grid: Grid = {
    context,
    frame,
    filter,
    cells,
    axes,
    number,
    tooltip,
    byIndex: new Map(),
    width: measured(() => cells.clientWidth),
    height: measured(() => cells.clientHeight),
    laid: createStore<Laid>({ layout, buttons: [] }),
  };
  const pictures = [layOut, paintPictures, markSelected].map((draw) => () => draw(grid));
  followArrows(cells, () => grid.laid.values.buttons);
  return { element: node, tooltip: tooltip.element, pictures };
}

/** The largest pictures with which all heads fit. */
function fitPictures({ context, filter, ...cells }: Grid, count: number): HeadGridLayout {
  const site = siteOf(context);
  const { sorted } = filter;
  const width = cells.width() - (sorted ? 0 : LAYER_NAMES) - 4;
  const height = context.narrow() ? 520 : cells.height() - (sorted ? 4 : 22);
  const larger = context.state.projector ? SMALL_PROJECTOR_TYPE / SMALL_TYPE : 1;
  const most = sorted ? count : site.heads;
  let best = { unit: 1, width: 0, height: 0, columns: most, tall: false, wrapped: false, slot: 0 };
  for (let lines = 1; lines <= most; lines += 1) {
    const columns = Math.ceil(most / lines);
    const slot = width / columns - 10;
    const rows = lines * (sorted ? 1 : site.layers);
    const wrapped = !sorted && lines > 1;
    for (const tall of slot >= ROOM_FOR_ROLE ? [true, false] : [false]) {
      const down = height / rows - CAPTION[tall ? "tall" : "short"] * larger - 8;
      const size = pictureSize(site, slot, down);
      const worth = best.tall && !tall ? WORTH_A_ROLE : wrapped ? WORTH_WRAPPING : 1;
      if (size.width * size.height > best.width * best.height * worth)
        best = { ...size, columns, tall, wrapped, slot };
    }
  }
  return best.width > 0 ? best : { ...best, ...pictureSize(site, SMALLEST_PICTURE, 0), slot: 0 };
}

/**
 * The size of a picture in a space: one of its sides may be stretched to fill it.
 * @param across px
 * @param down px
 */
function pictureSize(site: Site, across: number, down: number): ThumbnailSize {
  const longest = Math.max(site.queries, site.keys);
  const edge = Math.min(
    LARGEST_PICTURE,
    (across * longest) / site.keys,
    (down * longest) / site.queries,
  );
  const size = thumbnailSize(Math.max(edge, SMALLEST_PICTURE), site, SMALLEST_THUMBNAIL);
  const stretched = (side: number, space: number) =>
    Math.max(side, Math.min(side * STRETCH, space, LARGEST_PICTURE));
  return {
    unit: size.unit,
    width: stretched(size.width, across),
    height: stretched(size.height, down),
  };
}

/** Put every head in its place. Elements are kept: another order moves them. */
function layOut(grid: Grid) {
  const { context, frame, filter, cells, axes, number, byIndex, laid } = grid;
  const heads = filteredHeads(context, frame, filter);
  const shown = filter.sorted ? heads.filter((one) => one.passes) : heads;
  const layout = fitPictures(grid, Math.max(shown.length, 1));
  const { width, height, columns, tall, wrapped, slot } = layout;
  const { style } = cells;
  style.setProperty("--picture-width", `${width}px`);
  style.setProperty("--picture-height", `${height}px`);
  style.setProperty("--slot", `${Math.max(slot, width + THUMBNAIL_EDGE)}px`);
  const row = `repeat(${columns}, minmax(calc(var(--picture-width) + ${THUMBNAIL_EDGE}px), max-content))`;
  style.gridTemplateColumns = filter.sorted ? row : `${LAYER_NAMES}px ${row}`;
  cells.classList.toggle("named", tall || wrapped);
  cells.classList.toggle("tall", tall);
  write(axes, frame.say(filter.sorted ? "axes_sorted" : "axes_natural"));
  const metric = metricShown(frame, context.state.site, filter);
  write(number, metric ? numberLine(frame, metric) : "");
  for (const one of heads) cellOf(grid, one); // painted with the others, whether it passes or not
  const buttons = shown.map((one) => captioned(grid, one, layout));
  const before = untracked(() => laid.values.layout);
  const painted = String(shrunkTo(before)) === String(shrunkTo(layout));
  laid.set({ layout: painted ? before : layout, buttons });
  if (!shown.length)
    cells.replaceChildren(element("p", { class: "nothing" }, frame.say("no_head_passes")));
  else cells.replaceChildren(...(filter.sorted ? buttons : withNames(context, buttons, columns)));
  for (const index of byIndex.keys()) if (index >= heads.length) byIndex.delete(index);
}

/**
 * The names of the heads above, unless they are under the pictures, and of each layer before its
 * rows.
 */
function withNames(context: TraceContext, buttons: HTMLElement[], columns: number) {
  const site = siteOf(context);
  const name = (kind: string, text: string, title?: string) =>
    element("span", { class: `${kind}-name`, title }, text);
  const whole = columns === site.heads;
  const across = Array.from({ length: columns }, (_, head) =>
    name("column", whole ? `H${head}` : ""),
  );
  const rows = buttons.flatMap((button, index) => {
    const { layer, head } = headAt(index, site.heads);
    if (head % columns > 0) return [button];
    const number = site.numbers[layer];
    const title = context.say("layer_title", { layer: number });
    const first = head === 0 ? name("row", `L${number}`, title) : name("row", "");
    first.style.gridColumn = "1"; // the last row of a layer may be shorter
    return [first, button];
  });
  return [...(whole ? [name("corner", ""), ...across] : []), ...rows];
}

/** The cell of one head, made once. */
function cellOf({ context, byIndex, tooltip }: Grid, { index, layer, head }: FilteredHead) {
  const known = byIndex.get(index);
  if (known) return known;
  const picture = element("canvas", { "aria-hidden": "true" });
  const [name, number] = [element("b"), element("span", { class: "number" })];
  const role = element("span", { class: "role" });
  const button = buttonElement(
    () => context.act.select({ layer, head }),
    {
      class: "head-cell",
      testid: `head-${layer}-${head}`,
      on: {
        pointermove: (event) => tooltip.show(event, layer, head),
        pointerleave: () => tooltip.hide(),
      },
    },
    picture,
    element("span", { class: "caption" }, name, " ", number),
    " ",
    role,
  );
  const cell = { button, picture, name, number, role };
  byIndex.set(index, cell);
  return cell;
}

/** The button of a head with name, number and role; faint when it does not pass the filter. */
function captioned(grid: Grid, one: FilteredHead, { wrapped, tall }: HeadGridLayout) {
  const { frame, context } = grid;
  const { layer, head, measured, number, passes } = one;
  const title = shownName(grid.context, layer, head);
  const cell = cellOf(grid, one);
  const roles = roleCaption(measured);
  write(cell.name, wrapped && !tall ? `H${head}` : title); // its layer is beside it
  write(cell.number, number === null ? "" : shortNumber(number));
  write(cell.role, roles);
  cell.role.classList.toggle("none", measured?.roles.length === 0);
  cell.button.classList.toggle("faint", !passes);
  const shown = [title, cell.number.textContent].filter(Boolean).join(" ");
  const removed = siteOf(context).removed(layer, head);
  const words = [shown, roles, removed ? context.say(`removed_${removed}`) : ""];
  assign(cell.button, "aria-label", words.filter(Boolean).join(frame.say("colon")));
  return cell.button;
}

/** Draw the weights of every head. */
function paintPictures({ context, byIndex, laid }: Grid) {
  const { layout } = laid.values;
  const site = siteOf(context);
  const scale = scaleOf(context.state, site);
  for (const [index, { picture }] of byIndex) {
    const { layer, head } = headAt(index, site.heads);
    if (layer >= site.layers) continue;
    const own = site.picture(layer, head);
    const tone = tones(own.weights, own.keys, scale);
    const removed = site.removed(layer, head) !== null;
    paintThumbnail(picture, own, { size: layout, palette: context.palette, tone, removed });
  }
}

/** Ring the selected head. */
function markSelected({ context, byIndex, laid }: Grid) {
  const { layer, head } = context.state;
  const { heads } = siteOf(context);
  const selected = head < 0 ? undefined : byIndex.get(layer * heads + head)?.button;
  for (const button of laid.values.buttons) {
    button.classList.toggle("selected", button === selected);
    assign(button, "aria-pressed", button === selected ? "true" : "false");
  }
  markStop(laid.values.buttons, selected);
}
