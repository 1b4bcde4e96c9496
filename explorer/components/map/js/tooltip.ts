import { element, type Part } from "../../dom/js/element.ts";
import { isTerm } from "../../dom/js/terms.ts";
import { ASKED } from "../../page/js/lessonOnPage.ts";
import { type HeadOrMethod, reachOf } from "../../trace/js/contributions.ts";
import { visibleRows } from "../../trace/js/guess.ts";
import type { Hover } from "../../trace/js/initialState.ts";
import { labelOf, meaningOf, PADDING, termOf, tokenIn } from "../../trace/js/label.ts";
import {
  isAsked,
  isHeld,
  otherShare,
  shownHead,
  shownKeys,
  shownName,
  siteOf,
  weightAt,
} from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offers } from "../../trace/js/traceQuestions.ts";

const EDGE = 4; // px beside a tooltip

/**
 * The hover text of a cell: weight, reason of a mask, query, key and head; of a special token
 * anywhere: what it is.
 */
export function createTooltip(context: TraceContext): Part {
  const node = element("div", { class: "tooltip", role: "tooltip", testid: "tooltip" });
  let pointed: Pointed | null = null; // the special token under the pointer
  let [trace, step] = [context.trace, context.state.step]; // on which it is
  const draw = () => {
    const { hover } = context.state;
    if (trace !== context.trace || step !== context.state.step) pointed = null;
    [trace, step] = [context.trace, context.state.step];
    const lines = hover ? cellLines(context, hover) : [];
    const meaning = pointed?.meaning ?? (lines.length ? paddingMeaning(context, hover) : undefined);
    node.hidden = !lines.length && !meaning;
    if (node.hidden) return;
    const parts = lines.map((line) => element("div", {}, line));
    if (meaning)
      parts.splice(1, 0, element("div", { class: "meaning" }, explain(context, meaning)));
    node.replaceChildren(...parts);
    positionTooltip(context.root, node, (hover ?? pointed) as Hover | Pointed);
  };
  const point = (event: PointerEvent) => {
    const opens = event.type === "pointerdown" && isTerm(event.target); // the same sentence
    const next = opens ? null : specialAt(event);
    if (next?.node === pointed?.node) return;
    pointed = next;
    draw();
  };
  const release = ({ pointerType }: PointerEvent) => {
    if (pointerType !== "touch") return;
    pointed = null;
    node.hidden = true;
    setHover(context, null);
  };
  for (const event of ["pointerover", "pointerdown"] as const) {
    context.root.addEventListener(event, point, { signal: context.signal });
  }
  context.root.addEventListener(
    "pointerleave",
    (event) => {
      if (event.pointerType !== "touch") point(event);
    },
    { signal: context.signal },
  );
  for (const event of ["pointerdown", "pointercancel"] as const) {
    document.addEventListener(event, release, { capture: true, signal: context.signal });
  }
  return { element: node, after: [draw] };
}

/** A special token under the pointer. */
interface Pointed {
  node: Node;
  meaning: string; // name of its sentence
  x: number; // in the viewport
  y: number;
}

/** The special token that a pointer is on; null on anything else. */
function specialAt({ target, clientX, clientY }: PointerEvent): Pointed | null {
  const node = target instanceof Element ? target.closest(".special") : null;
  const meaning = node && meaningOf(tokenIn(node) ?? "");
  return meaning ? { node, meaning, x: clientX, y: clientY } : null;
}

/** The sentence on a special token; some models begin their output with the one that pads. */
function explain({ say, trace }: TraceContext, meaning: string) {
  const begins = termOf(trace.target[0] ?? "") === PADDING && meaning === `${PADDING}_title`;
  return say(begins ? "token_pad_begins" : meaning);
}

/** The name of the sentence on padding, where the query or the key of a cell is such. */
function paddingMeaning(context: TraceContext, hover: Hover | null) {
  const { queryTokens, keyTokens } = siteOf(context);
  const tokens = [queryTokens[hover?.query ?? -1], keyTokens[hover?.key ?? -1]];
  return tokens.some((token) => termOf(token ?? "") === PADDING) ? `${PADDING}_title` : undefined;
}

/** The lines on the hovered cell; none where it is not shown. */
function cellLines(context: TraceContext, hover: Hover) {
  const { query, key } = hover;
  if (query === null || key === null || query >= visibleRows(context)) return [];
  const lines = tooltipLines(context, hover, query, key);
  if (opensInside(context, hover)) lines.push(context.say("hover_again"));
  return lines;
}

/** The lines of the tooltip. */
function tooltipLines(context: TraceContext, { layer, head }: Hover, query: number, key: number) {
  const { say } = context;
  const site = siteOf(context);
  const name = (tokens: string[], position: number, shown: number) =>
    position < shown ? labelOf(tokens[position]) : "·";
  return [
    weightLine(context, layer, head, query, key),
    ...otherLine(context, layer, head, query),
    ...dropLine(context, head, query, key),
    say("hover_query", { token: name(site.queryTokens, query, site.queries), position: query + 1 }),
    say("hover_key", { token: name(site.keyTokens, key, shownKeys(context)), position: key + 1 }),
    `${say(`site_${site.name}`)} · ${shownName(context, layer, head)}`,
  ];
}

/**
 * What a row has of no key: in cross-attention what the query keeps of itself, of several layers what
 * is of the other side; nothing of weights, and where no residual connection is counted.
 */
function otherLine(context: TraceContext, layer: number, head: HeadOrMethod, query: number) {
  const { site } = context.state;
  const alone = site === "encoder" || !context.trace.sites.cross; // there is no other side
  if (typeof head === "number" || head === "value_norm" || alone) return [];
  const other = otherShare(siteOf(context), layer, head, query).toFixed(4);
  const cross = site === "cross";
  if (reachOf(head) === "all") return cross ? [context.say("hover_own", { own: other })] : [];
  return [context.say(cross ? "hover_of_prefix" : "hover_of_source", { other })];
}

/** What leave-one-out has measured. */
function dropLine(context: TraceContext, head: HeadOrMethod, query: number, key: number) {
  if (head !== "leave_one_out") return [];
  const drop = siteOf(context).drop(query, key);
  return [context.say(drop < 0 ? "hover_rise" : "hover_drop", { drop: Math.abs(drop).toFixed(4) })];
}

/**
 * Whether another touch of the cell opens the panel that shows how its weight is computed; where
 * there is more space the first one does.
 */
function opensInside(context: TraceContext, { layer, head }: Hover) {
  const { state } = context;
  const offered = offers(context, "vectors") && context.narrow();
  return offered && state.inside === null && state.layer === layer && shownHead(state) === head;
}

/**
 * The weight of a cell and why it is masked; of a head of a large trace only once it was chosen.
 */
function weightLine(
  context: TraceContext,
  layer: number,
  head: HeadOrMethod,
  query: number,
  key: number,
) {
  const { say, trace } = context;
  const site = siteOf(context);
  if (!site.has(layer, head))
    return say(isHeld(context, layer, head) ? "hover_choose" : "not_in_page");
  const code = site.masked(layer, head)[query * site.keys + key];
  const asks = (name: string) => isAsked(context, name, { query, key }, layer, head);
  const known = weightAt(site, layer, head, query, key).toFixed(4);
  const weight = asks("weight") ? ASKED : known;
  const told = say(`reason_${trace.header.reasons[code].replaceAll(" ", "_")}`);
  const reason = asks("mask reason") ? ASKED : told;
  if (code) return say("hover_closed", { weight, reason });
  return say(typeof head === "string" ? "hover_contribution" : "hover_weight", { weight });
}

/**
 * Place a tooltip beside the pointer, on the side that has space; on a phone, where neither has,
 * inside the frame.
 * @param pointer in the viewport
 */
export function positionTooltip(
  root: HTMLElement,
  node: HTMLElement,
  { x, y }: { x: number; y: number },
) {
  const frame = root.getBoundingClientRect();
  const [left, top] = [x - frame.left, y - frame.top];
  const [right, below] = [left < frame.width - 260, top < frame.height - 120];
  const beside = right ? left + 14 : left - 10 - node.offsetWidth;
  const inside = Math.max(EDGE, Math.min(beside, frame.width - node.offsetWidth - EDGE));
  node.style.transform =
    `translate(${Math.round(inside)}px, ${Math.round(top)}px) ` +
    `translateY(${below ? "16px" : "calc(-100% - 10px)"})`;
}

/** End the hover when the pointer leaves; after a touch it stays until the next one. */
export function clearHover(context: TraceContext, { pointerType }: PointerEvent) {
  if (pointerType !== "touch") setHover(context, null);
}

/** Hover another cell, or with null none; nothing changes within one cell. */
export function setHover(context: TraceContext, next: Hover | null) {
  const now = context.state.hover;
  const names = ["query", "key", "layer", "head"] as const;
  if (now === next || (now && next && names.every((name) => now[name] === next[name]))) return;
  context.set({ hover: next });
}
