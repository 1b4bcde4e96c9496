import {
  assign,
  element,
  type Listeners,
  type Part,
  populate,
  write,
} from "../../dom/js/element.ts";
import { DESK_TYPE, PROJECTOR_TYPE } from "../../dom/js/lengths.ts";
import { markedWhereMore } from "../../dom/js/moreLines.ts";
import { measured, untracked, type View } from "../../dom/js/store.ts";
import { markTerm } from "../../dom/js/terms.ts";
import { linkAt } from "../../map/js/alignment.ts";
import { measuringPen, textWidth, tokenWidth } from "../../map/js/geometry.ts";
import { clearHover, setHover } from "../../map/js/tooltip.ts";
import { type Colour, colourAt, css, inkOn } from "../../page/js/palette.ts";
import {
  guessKey,
  HIDDEN,
  shownPrediction,
  strongestKey,
  tokenHidden,
  weightsHidden,
} from "../../trace/js/guess.ts";
import { firstTerm, writeToken } from "../../trace/js/label.ts";
import { scaleOf, tones } from "../../trace/js/scale.ts";
import {
  currentRow,
  rowCodes,
  shownHead,
  shownKeys,
  shownRows,
  siteOf,
  stepOfRow,
} from "../../trace/js/stepState.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { forcedRows } from "../../trace/js/unitChoice.ts";
import { createTokenPages } from "./tokenPages.ts";

type StripName = "source" | "target";

const SHORTEST_CHIP = 16; // px
const CHIP_EDGE = 24; // px that a chip adds to its text
const WIDEST = 8192; // px of any window

/** One strip: its elements, and which tokens of a long text it has. */
interface Strip {
  row: HTMLElement;
  label: HTMLElement;
  tokens: HTMLElement; // with the chips, and buttons to those before and after
  chips: HTMLElement;
  pages: ReturnType<typeof createTokenPages>; // which tokens these are
  hidden: () => number; // px of its lines
  markMore: View;
}

/** Source and target as two lines of tokens: the keys, and the current query. */
export function createStrips(context: TraceContext): Part {
  const source = stripElement(context, "source");
  const target = stripElement(context, "target");
  const node = element("div", { class: "strips" }, source.row, target.row);
  const name = () => {
    const { state, trace, say } = context;
    target.row.classList.toggle("off", state.site === "encoder");
    write(target.label, say(nameOfTarget(context)));
    source.row.hidden = trace.source.length === 0;
    target.row.hidden = trace.target.length === 0;
  };
  const fit = () => {
    const abreast = fitAbreast(context);
    node.classList.toggle("abreast", abreast);
    for (const [strip, tokens] of tokensOf(context)) {
      const { row } = strip === "source" ? source : target;
      row.classList.toggle("wrapped", !abreast && needsTwoLines(context, strip, tokens));
    }
  };
  const named = [
    [source, "source"],
    [target, "target"],
  ] as const;
  let shown = -1; // the generation
  const scroll = () => {
    const other = context.generation !== shown;
    shown = context.generation;
    for (const [strip, name] of named) scrollToToken(strip, tokenInView(context, name), other);
  };
  const views = [
    name,
    fit,
    source.pages.follow,
    target.pages.follow,
    () => drawSource(context, source),
    () => drawTarget(context, target),
    source.pages.draw,
    target.pages.draw,
    () => markHovered(context, source, target),
  ];
  return { element: node, views, after: [scroll, source.markMore, target.markMore] };
}

/**
 * What the target is: a prompt with its output, the text that a decoder alone only reads, or itself.
 */
function nameOfTarget({ trace }: TraceContext) {
  if (trace.prompt) return "strip_prompted";
  return trace.steps || trace.source.length ? "strip_target" : "strip_text";
}

/**
 * Whether, on a projector, both strips fit beside each other. All tokens count, hidden or not:
 * stepping must not move the lines.
 */
function fitAbreast({ state, trace, width, palette, say }: TraceContext) {
  if (!state.projector) return false;
  const pen = measuringPen(`${PROJECTOR_TYPE}px ${palette.font}`);
  const tokens = [...trace.source, ...trace.target, ...trace.predicted.slice(-1)];
  const names = ["strip_source", "strip_target"].map(
    (name) => Math.max(textWidth(pen, say(name)), 80) + 40,
  );
  const around = names.reduce((sum, name) => sum + name, 0);
  return chipsWidth(pen, tokens) + around < width();
}

/** Width of tokens beside each other, px; of so many that none of them need be measured, the least. */
function chipsWidth(pen: CanvasRenderingContext2D, tokens: string[]) {
  const least = tokens.length * (SHORTEST_CHIP + CHIP_EDGE);
  if (least > WIDEST) return least;
  return tokens.reduce(
    (sum, token) => sum + Math.max(tokenWidth(pen, token), SHORTEST_CHIP) + CHIP_EDGE,
    0,
  );
}

/** Every token that a strip shows at the last step, in pieces, which take more space than words. */
function tokensOf({ pieces }: TraceContext): [StripName, string[]][] {
  return [
    ["source", pieces.source],
    ["target", [...pieces.target, ...pieces.predicted.slice(-1)]],
  ];
}

/**
 * Whether a strip needs two lines at any step: it then has them at every step and in both units,
 * so that nothing below it moves.
 */
function needsTwoLines(context: TraceContext, strip: StripName, tokens: string[]) {
  const { state, width, palette, say } = context;
  const forced = forcedRows(context).size;
  const type = state.projector ? PROJECTOR_TYPE : DESK_TYPE;
  const weight = strip === "target" ? 600 : 400; // of the prediction
  const pen = measuringPen(`${weight} ${type}px ${palette.font}`);
  const names = ["strip_source", "strip_target"].map((name) => textWidth(pen, say(name)));
  const label = Math.max(...names, 4.2 * type) + 8;
  const padding = 2 * 12 + 4;
  // around the query, before the prediction, on forced tokens
  const marks = strip === "target" ? 4 + 1.5 * type * (1 + forced) : 0;
  return label + chipsWidth(pen, tokens) + marks + padding > width();
}

/** The token that a strip scrolls to: the query or, of the source, the key most looked at; −1 = none. */
function tokenInView(context: TraceContext, name: StripName) {
  if (name === "target") return currentRow(context);
  return context.state.site === "cross" ? strongestKey(context) : -1;
}

/** A labelled strip. */
function stripElement(context: TraceContext, name: StripName): Strip {
  const { say } = context;
  const label = element("span", { class: "strip-label" }, say(`strip_${name}`));
  const list = { class: "chips-shown", role: "list", "aria-label": say(`strip_${name}`) };
  const chips = element("div", list);
  const pages = createTokenPages(context, {
    name,
    count: () => lengthOf(context, name),
    inView: () => tokenInView(context, name),
    turned: (later) => {
      tokens.scrollTop = later ? 0 : tokens.scrollHeight;
    },
  });
  const tokens = element(
    "div",
    { class: "strip-tokens", testid: `strip-${name}`, on: chipListeners(context, name) },
    pages.earlier,
    chips,
    pages.later,
  );
  const markMore = markedWhereMore(label, tokens, say("strip_more"));
  const row = element("div", { class: "strip" }, label, tokens);
  const hidden = measured(() => tokens.scrollHeight - tokens.clientHeight);
  return { row, label, tokens, chips, pages, hidden, markMore };
}

/** How many tokens a strip has: the target also the last prediction. */
function lengthOf({ trace }: TraceContext, name: StripName) {
  if (name === "source") return trace.source.length;
  return trace.target.length + (trace.predicted.length ? 1 : 0);
}

/** What a pointer does on the tokens of a strip. */
function chipListeners(context: TraceContext, name: StripName): Listeners {
  return {
    pointermove: (event) => hoverToken(context, event, name),
    pointerleave: (event) => clearHover(context, event),
    click: (event) => {
      const position = chipPosition(event);
      if (name === "source" && position >= 0 && context.state.site === "cross")
        guessSource(context, position);
      const rows = siteOf(context).queryTokens === context.trace[name] ? shownRows(context) : 0;
      const step = position >= 0 && position < rows ? stepOfRow(context, position) : 0;
      if (step) context.act.goTo(step);
    },
  };
}

/** Guess that the head looks at a source token. */
function guessSource(context: TraceContext, position: number) {
  context.set(guessKey(context, position));
}

/** Position of the token under the pointer, −1 between tokens. */
function chipPosition({ target }: Event) {
  const chip = target instanceof Element ? target.closest<HTMLElement>(".chip") : null;
  return Number(chip?.dataset.position ?? -1);
}

/** Hover the key that a token is. */
function hoverToken(context: TraceContext, event: PointerEvent, name: StripName) {
  const { state } = context;
  const site = siteOf(context);
  const position = chipPosition(event);
  const isKey = (name === "target") === (site.name === "decoder");
  if (!isKey || position < 0 || position >= site.keys || position >= shownKeys(context)) return;
  const row = currentRow(context);
  setHover(context, {
    query: row < 0 ? null : row,
    key: position,
    layer: state.layer,
    head: shownHead(state),
    x: event.clientX,
    y: event.clientY,
  });
}

/** The chips of a strip with their positions, to be filled by `drawChip`. */
function chipsOf({ chips, pages }: Strip): [HTMLElement, number][] {
  const { first, stop } = pages.shown();
  const make = () => element("bdi", { class: "chip token", role: "listitem" });
  return populate(chips, stop - first, make).map((chip, index) => {
    assign(chip, "data-position", first + index);
    return [chip, first + index];
  });
}

/** The chip of a token; undefined where the strip does not have it. */
function chipAt({ chips, pages }: Strip, position: number) {
  const { first } = pages.shown();
  return position < first ? undefined : (chips.children[position - first] as HTMLElement);
}

/** The source, tinted by the weights of the current row. */
function drawSource(context: TraceContext, strip: Strip) {
  const { trace, state } = context;
  const tint = rowTint(context, ["cross", "encoder"]);
  const row = currentRow(context);
  const linked = linkAt(context, row);
  const query = context.state.site === "encoder" ? row : -1;
  for (const [chip, position] of chipsOf(strip)) {
    drawChip(chip, trace.source[position], tint?.(position) ?? null);
    markTerm(chip, state.guess ? null : firstTerm(trace.source, position)); // else a guess
    chip.classList.toggle("aligned", position === linked);
    chip.classList.toggle("query", position === query);
    chip.classList.toggle("masked", trace.masks.includes(position));
    chip.classList.toggle("second", position > 0 && position === trace.second);
    chip.classList.toggle("answer", isAnswer(context, position));
  }
}

/**
 * Whether a token of the text is of the span that the model predicts; words have places of their
 * own.
 */
function isAnswer({ trace, pieces }: TraceContext, position: number) {
  const { predictions } = pieces.header;
  if (predictions?.kind !== "span" || trace !== pieces) return false;
  const chosen = predictions.rows.find((row) => row.chosen);
  return chosen !== undefined && chosen.start <= position && position < chosen.stop;
}

/** The target: what was fed in, the current query, its prediction, and dots for what is to come. */
function drawTarget(context: TraceContext, strip: Strip) {
  const { trace, state } = context;
  const predictions = trace.predicted.length ? 1 : 0;
  const tint = rowTint(context, ["decoder"]);
  const row = currentRow(context);
  const linked = linkAt(context, row) >= 0;
  const forced = forcedRows(context);
  for (const [chip, position] of chipsOf(strip)) {
    const predicted = row >= 0 && position === row + 1 && predictions === 1;
    const token = predicted
      ? shownPrediction(context, row)
      : (trace.target[position] ?? trace.predicted.at(-1) ?? "");
    const last = row < 0 ? state.step : row + (predicted ? 1 : 0); // the encoder has no row
    const ahead = trace.steps > 0 && position > last; // what is only read is there at once
    const hidden = (ahead && !state.ahead) || tokenHidden(context, predicted ? -1 : position - 1);
    drawChip(chip, hidden ? "·" : token, hidden ? null : (tint?.(position) ?? null));
    chip.hidden = ahead && state.guess !== null; // how long the answer is, is not told
    chip.classList.toggle("query", position === row);
    chip.classList.toggle("predicted", predicted);
    chip.classList.toggle("ahead", ahead);
    chip.classList.toggle("forced", !hidden && token !== HIDDEN && forced.has(position - 1));
    chip.classList.toggle("given", position < trace.prompt);
    chip.classList.toggle("answer", trace.source.length === 0 && isAnswer(context, position));
    chip.classList.toggle(
      "aligned",
      linked && (state.alignment === "input" ? position === row : predicted),
    );
    assign(chip, "aria-current", position === row ? "step" : null);
  }
}

/**
 * Colours of the current row of the selected head, by position; in the encoder, of the hovered row before
 * that. A masked key has none.
 * @param sites whose keys the strip shows
 */
function rowTint(context: TraceContext, sites: SiteName[]) {
  const { state, palette } = context;
  if (!sites.includes(state.site)) return null;
  const site = siteOf(context);
  const hovered = state.site === "encoder" ? state.hover?.query : null;
  const row = hovered ?? currentRow(context);
  if (row < 0 || row >= site.queries || weightsHidden(context)) return null;
  const masked = site.masked(state.layer, shownHead(state));
  const codes = rowCodes(site, state.layer, shownHead(state), row);
  const tone = tones(codes, site.keys, scaleOf(state, site));
  return (key: number) =>
    key >= site.keys || masked[row * site.keys + key] ? null : colourAt(palette.ramp, tone[key]);
}

/** Fill one chip. */
function drawChip(chip: HTMLElement, token: string, colour: Colour | null) {
  writeToken(chip, token);
  const background = colour ? css(colour) : "";
  if (chip.dataset.tint !== background) {
    chip.dataset.tint = background;
    chip.style.background = background;
    chip.style.color = colour ? inkOn(colour) : "";
  }
}

/** Mark the token that is the hovered key. */
function markHovered(context: TraceContext, source: Strip, target: Strip) {
  const { state } = context;
  for (const { chips } of [source, target]) {
    for (const chip of chips.querySelectorAll(".hovered")) chip.classList.remove("hovered");
  }
  const key = state.hover?.key ?? null;
  const [strip, name] =
    state.site === "decoder" ? ([target, "target"] as const) : ([source, "source"] as const);
  if (key !== null && key < lengthOf(context, name)) chipAt(strip, key)?.classList.add("hovered");
}

/**
 * Scroll a strip of many lines so that a token and the line after it are visible; of another trace,
 * without such a token, to its beginning.
 */
function scrollToToken(strip: Strip, position: number, other: boolean) {
  const { tokens } = strip;
  if (strip.hidden() <= 0) return;
  const chip = untracked(() => chipAt(strip, position)); // a person who turns pages stays there
  if (chip) tokens.scrollTop = chip.offsetTop - 2;
  else if (other) tokens.scrollTop = 0;
}
