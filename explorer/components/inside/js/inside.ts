import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { createRadios } from "../../dom/js/radios.ts";
import { tokenHidden, visibleRows } from "../../trace/js/guess.ts";
import { INSIDE_VIEWS, MEAN } from "../../trace/js/look.ts";
import {
  currentRow,
  headPlace,
  largestKey,
  shownCell,
  shownMethod,
  shownName,
  siteOf,
} from "../../trace/js/stepState.ts";
import type { Cell, InsideView, SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createLoading, offers, Refusal } from "../../trace/js/traceQuestions.ts";
import type { HeadVectors } from "./arithmetic.ts";
import { createCalculation } from "./calculation.ts";
import { cellTitle } from "./cellTexts.ts";
import { createDepth } from "./depth.ts";
import { readVectors } from "./headVectors.ts";
import { createInsideWords } from "./insideWords.ts";
import { createLayerPath } from "./layerPath.ts";
import { createOmissionView, type Omission } from "./omission.ts";
import { createScoreParts } from "./scoreParts.ts";
import type { ScoreVectors } from "./scoreVectors.ts";
import { findPath, PATH, type TokenPath } from "./tokenPath.ts";

const [FIRST, ...OTHERS] = INSIDE_VIEWS;
const PARTS = [FIRST, "cell", ...OTHERS];

/** By part, the questions of which one is enough to draw it. */
const SOURCES: Record<string, string[]> = {
  cell: ["vectors"],
  score: ["score"],
  depth: ["early", "path"],
  without: ["without"],
};

/** By part, the sentence where none of its questions can be asked; else that of the path. */
const MISSING: Record<string, string> = { score: "score_missing", without: "without_missing" };

/**
 * The panel below the map: how the weight of one cell arises, and the path of its query through the
 * layer before and after.
 */
export function createInside(context: TraceContext): Part {
  const { say } = context;
  const title = element("h2", { class: "inside-title", testid: "inside-title" });
  const close = buttonElement(
    () => hide(context),
    { class: "quiet", testid: "inside-close" },
    say("inside_close"),
  );
  const choice = { names: PARTS, prefix: "inside_part", label: "inside_parts", small: true };
  const radios = createRadios(say, choice, (name) =>
    context.set({ insideView: name as InsideView }),
  );
  const content = createContent(context);
  const node = element(
    "section",
    { class: "inside", "aria-label": say("inside"), testid: "inside" },
    element(
      "header",
      { class: "inside-heading row wrap" }, // in large type the title needs a line of its own
      title,
      radios.element,
      createInsideWords(context).element,
      close,
    ),
    ...content.elements,
  );
  onResize([node], context.signal, () => {
    context.root.style.setProperty("--inside-now", `${node.offsetHeight}px`);
    context.screen.measure(); // the picture has what the panel leaves
  });
  let [open, unseen] = [false, false];
  const draw = () => {
    const cell = isOffered(context) ? shownCell(context) : null;
    const [opened, closed] = [cell !== null && !open, cell === null && open];
    open = cell !== null;
    node.hidden = !open;
    context.root.toggleAttribute("data-inside", open);
    if (closed && context.narrow()) showTop(context.root);
    if (!cell) return;
    const { insideView: part } = context.state;
    radios.buttons.score.hidden =
      !offers(context, "score") && context.options.resources !== undefined;
    radios.check(part);
    const alone = shownMethod(context) !== null && part !== "depth";
    context.root.toggleAttribute("data-sentence-alone", alone);
    const { heading, complete } = content.draw(part, cell);
    write(title, heading);
    unseen = opened || unseen;
    if (!unseen || !complete) return;
    unseen = false;
    const block = context.narrow() ? "start" : "nearest"; // its arithmetic, not its edge alone
    requestAnimationFrame(() => node.scrollIntoView({ block }));
  };
  return { element: node, views: [draw] };
}

/** A panel that is closed was scrolled to; without it, that place shows nothing of the picture. */
function showTop(root: HTMLElement) {
  requestAnimationFrame(() => {
    if (root.getBoundingClientRect().top < 0) root.scrollIntoView({ block: "start" });
  });
}

/** What the panel shows below its heading: a part of the path, or why there is none. */
function createContent(context: TraceContext) {
  const { say, state } = context;
  const note = element("p", { class: "note", testid: "inside-note" });
  const calculation = createCalculation(context);
  const layerPath = createLayerPath(context);
  const depth = createDepth(context);
  const omission = createOmissionView(context);
  const scoreParts = createScoreParts(context);
  const findHead = createLoading(context, "vectors", readVectors);
  /** By part, what it is drawn from. */
  const needed: Record<string, () => (object | string)[]> = {
    cell: () => [findHead(headPlace(context))],
    before: () => [findHead(headPlace(context)), findPath(context, state.layer)],
    after: () => [findHead(headPlace(context)), findPath(context, state.layer)],
    depth: () => depth.find(),
    without: () => [omission.find()],
    score: () => [scoreParts.find()],
  };
  /** Show a part of the path of a cell; its title, and whether nothing is being loaded. */
  const draw = (part: string, cell: Cell) => {
    const obstructed = obstacle(context, cell, part);
    const found = obstructed ? [] : needed[part]();
    const refused = found.find((one) => one instanceof Refusal);
    const problem = refused?.message ?? obstructed;
    const failed = found.includes("failed");
    const drawn = !problem && !failed && !found.includes("loading");
    note.hidden = drawn;
    write(note, problem || (failed ? failure(context) : say("inside_loading")));
    calculation.element.hidden = !drawn || part !== "cell";
    layerPath.element.hidden = !drawn || (part !== "before" && part !== "after");
    depth.element.hidden = !drawn || part !== "depth";
    omission.element.hidden = !drawn || part !== "without";
    scoreParts.element.hidden = !drawn || part !== "score";
    if (drawn) show(part, found, cell);
    return { heading: cellTitle(context, cell), complete: !found.includes("loading") };
  };
  const show = (part: string, found: unknown[], cell: Cell) => {
    const head = found[0] as HeadVectors;
    const paths = found as TokenPath[];
    if (part === "cell") calculation.draw(head, cell);
    else if (part === "depth") depth.draw(paths);
    else if (part === "without") omission.draw(found[0] as Omission);
    else if (part === "score") scoreParts.draw(found[0] as ScoreVectors, cell);
    else layerPath.draw(part === "before" ? "before" : "after", paths[1], head, cell);
  };
  const views = [calculation, layerPath, depth, omission, scoreParts];
  return { elements: [note, ...views.map((view) => view.element)], draw };
}

/** The button that opens the panel, and closes it again. */
export function insideButton(context: TraceContext): Part {
  const { say } = context;
  const button = buttonElement(
    () => lookInside(context, context.state.inside ? null : touchedCell(context)),
    { class: "quiet inside-open", testid: "inside-open" },
    say("inside"),
  );
  const draw = () => {
    button.hidden = !isOffered(context);
    const other = shownMethod(context) !== null && !context.state.inside;
    assign(
      button,
      "title",
      say(other ? "inside_of_weights" : "inside_open_title", headFacts(context)),
    );
    assign(button, "aria-pressed", context.state.inside ? "true" : "false");
  };
  return { element: button, views: [draw] };
}

/**
 * Show how the weight of a cell arises; without a cell, of the one with the largest weight in the
 * row; null ends it. Contributions are of no single head: then its weights are shown again.
 */
export function lookInside(context: TraceContext, cell?: Cell | null) {
  if (!isOffered(context)) return;
  if (cell === null) context.set({ inside: null });
  else if (shownMethod(context) === null) context.set({ inside: cell ?? strongest(context) });
  else context.act.select({ shows: "weight", inside: cell ?? strongest(context) });
}

/** The head whose weights come back when contributions are left. */
function headFacts(context: TraceContext) {
  const { layer, head } = context.state;
  return { head: shownName(context, layer, head) };
}

/**
 * What a click on a cell of the map does: show how its weight arises. On a phone, where the panel
 * stands far below the map, the first touch reads the hover text, which says so, and the second one
 * opens the panel.
 */
export function cellOpener(context: TraceContext): (cell: Cell) => void {
  return (cell) => {
    const { inside, site, layer, head } = context.state;
    if (shownMethod(context)) return; // it is computed of no single head
    const read = touchedCell(context);
    const again = read && read.query === cell.query && read.key === cell.key;
    const first = inside === null && context.narrow() && !again;
    context.set({ touched: first ? { ...cell, site, layer, head } : null });
    if (!first) lookInside(context, cell);
  };
}

/** The cell that was touched last, unless another head or step is shown since. */
function touchedCell(context: TraceContext): Cell | undefined {
  const { touched, site, layer, head } = context.state;
  const row = currentRow(context);
  if (!touched || touched.site !== site || touched.layer !== layer || touched.head !== head)
    return undefined;
  return row < 0 || touched.query === row ? { query: touched.query, key: touched.key } : undefined;
}

function hide(context: TraceContext) {
  context.set({ inside: null });
}

/** Whether the server has what the weights are computed from; a saved page has weights alone. */
export function isOffered(context: TraceContext) {
  return offers(context, "vectors");
}

/** The cell with the largest weight in the current row or, without one, in the first. */
function strongest(context: TraceContext): Cell {
  const { layer, head } = context.state;
  const query = Math.max(currentRow(context), 0);
  return { query, key: largestKey(siteOf(context), layer, head, query) };
}

/** Why something could not be loaded: of an exported page, what it holds. */
function failure({ say, options, pieces }: TraceContext) {
  if (!options.resources?.held) return say("inside_failed");
  const layers: Map<string, Set<string>> = new Map(); // heads by their layer
  for (const held of options.resources.held) {
    const [name, site, layer, head] = held.split("/");
    if (name !== "vectors") continue;
    const number = pieces.sites[site as SiteName]?.numbers[Number(layer)];
    const label = `${say(`site_${site}`)} L${number}`;
    layers.set(label, (layers.get(label) ?? new Set()).add(`H${head}`));
  }
  const named = [...layers].map(([label, heads]) => [label, ...[...heads].sort()].join(" "));
  return say("inside_not_in_page", { heads: named.join(" · ") });
}

/** Why there is nothing to show; "" where there is. */
function obstacle(context: TraceContext, { query }: Cell, part: string) {
  const { say, state, trace } = context;
  if (trace.rows) return say("inside_words");
  if (part === "depth" && !context.pieces.sites.decoder) return say("depth_alone");
  if (!(SOURCES[part] ?? PATH).some((name) => offers(context, name)))
    return say(MISSING[part] ?? "path_missing");
  if (part === "score" && context.asked.answer !== "") return say("score_asked");
  const answers = ["after", "depth", "without"].includes(part); // show the next token
  if (answers && tokenHidden(context, currentRow(context))) return say("inside_hidden");
  if (part === "depth") return state.site === "encoder" ? say("depth_encoder") : "";
  if (shownMethod(context)) return say("inside_contribution");
  if (state.head === MEAN) return say("inside_mean");
  return query >= visibleRows(context) ? say("inside_hidden") : "";
}
