import { projectorChosen } from "../../page/js/projector.ts";
import type { HeadOrMethod, Method } from "./contributions.ts";
import { drawingIn } from "./drawing.ts";
import type { EditNote } from "./editing.ts";
import { canGuess, type FirstQuestion, type Guess, guessOn, startGuessing } from "./guess.ts";
import { bestHead } from "./headScores.ts";
import { FLAGS, MEAN } from "./look.ts";
import type { Scale } from "./scale.ts";
import type {
  Alignment,
  Cell,
  InsideView,
  NextView,
  Site,
  SiteName,
  Trace,
  ViewOptions,
} from "./trace.ts";
import type { TraceContext } from "./traceContext.ts";
import { inUnit, stepInUnit } from "./unitChoice.ts";
import { type Zoom, zoomOn } from "./zoom.ts";

type TouchedCell = Cell & { site: SiteName; layer: number; head: number }; // and its head

/** The cell under the pointer. */
export interface Hover {
  query: number | null;
  key: number | null;
  layer: number;
  head: HeadOrMethod;
  x: number; // of the pointer, in the viewport
  y: number;
}

/** The text of the queries and that of the keys that the large map shows, of two texts a and b. */
export type PairPart = "all" | "aa" | "ab" | "ba" | "bb";

export type Shows = "weight" | Method; // the weights of the head, or contributions by a method

/** What is on or off and needs no rule of its own, such as whether pieces are merged into words. */
type Flags = Record<(typeof FLAGS)[number], boolean>;

/** What is shown of a trace. */
export interface TraceState extends Flags {
  site: SiteName;
  layer: number;
  /** MEAN for the mean of the layer; stays while contributions are shown, which have no head */
  head: number;
  shows: Shows; // what the large map shows
  step: number; // 1..T; 0 for none
  pieceStep: number; // step of the pieces before the change to words
  alignment: Alignment;
  ahead: boolean; // whether rows not yet decoded are shown
  scale: Scale | null;
  pairPart: PairPart;
  nextView: NextView; // how the next token is shown
  temperature: number; // at which the candidates are shown, 1 = as the model decodes
  projector: boolean;
  whatIf: boolean;
  edit: boolean; // whether a press changes the model
  editNote: EditNote;
  hinted: boolean; // whether the first hint was followed
  zoom: Zoom | null; // the part of the map on screen; null = all
  playing: boolean;
  hover: Hover | null;
  touched: TouchedCell | null; // the cell whose hover text was read on a phone
  guess: Guess | null; // null while nothing is guessed
  firstQuestion: FirstQuestion | null; // of the first visit, until another step is shown
  insideView: InsideView; // what is shown of that cell
  inside: Cell | null; // the cell whose arithmetic is shown; see `shownCell`
}

/**
 * What is shown first: what the view asks for where the trace has it, else what was shown before.
 * @param pieces whose steps the view counts
 */
export function initialState(
  pieces: Trace,
  view: Partial<ViewOptions>,
  before: Partial<TraceState>,
): TraceState {
  const flags = initialFlags(view, before);
  const trace = inUnit(pieces, flags.words);
  const wanted: (SiteName | null | undefined)[] = [
    view.site,
    before.site,
    "cross",
    "decoder",
    "encoder",
  ];
  const name = wanted.find((one) => one && trace.sites[one]);
  const site = trace.sites[name as SiteName] as Site; // it has one
  const best = bestHead(trace, site);
  const within = (value: number | null | undefined, count: number) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) < count;
  const pick = (part: "layer" | "head", count: number) =>
    [view[part], before[part], best[part]].find((value) => within(value, count)) ?? 0;
  const asked = view.step ?? 0;
  const guesses =
    (view.guess ?? Boolean(before.guess)) && trace.predicted.length > 0 && canGuess({ pieces });
  const last = guesses ? 1 : trace.steps; // where nothing is asked for: all, or all to be guessed
  const step = initialStep(pieces, trace, asked, last);
  const named = within(view.head, site.heads); // of a layer alone, as in a link, the mean is shown
  const asMean = before.head === MEAN || (view.head === null && within(view.layer, site.layers));
  const mean = asMean && site.heads > 1 && !named;
  return {
    site: site.name,
    layer: pick("layer", site.layers),
    head: mean ? MEAN : pick("head", site.heads),
    shows: "weight", // until contributions are loaded; see `followShown`
    ...flags,
    step,
    pieceStep: asked,
    alignment: view.alignment ?? before.alignment ?? "off",
    ahead: !guesses && (view.ahead ?? (view.step === null || (before.ahead ?? false))),
    scale: before.scale ?? null,
    pairPart: before.pairPart ?? "all",
    nextView: initialNextView(view, before),
    temperature: before.temperature ?? 1,
    projector: before.projector ?? projectorChosen(),
    everything: initialEverything(view, before, mean),
    whatIf: view.what_if ?? false,
    edit: (before.edit ?? false) && (view.what_if ?? false),
    editNote: "",
    hinted: wasHinted(view, before),
    zoom: zoomOn(site, view.zoom),
    playing: false,
    hover: null,
    touched: null,
    guess: guesses ? initialGuess(before, step) : null,
    firstQuestion: null,
    insideView: view.inside ?? (view.cell ? "cell" : (before.insideView ?? "cell")),
    inside: initialCell(view, before),
  };
}

/**
 * The view of the next trace: where its output was drawn anew while the last step was on screen, that
 * of the new one is shown. A step that a link names stays.
 */
export function viewAfterDrawing(
  { pieces, trace, state }: Pick<TraceContext, "pieces" | "trace" | "state">,
  next: Trace,
): Partial<ViewOptions> {
  const { view, facts } = next.header;
  const before = pieces.header.facts;
  const again = facts.model === before.model && facts.text === before.text;
  const drawn = JSON.stringify(drawingIn(facts)) !== JSON.stringify(drawingIn(before));
  const named = !view.suggested && view.step !== null && view.step !== pieces.steps;
  const last = again && drawn && state.step === trace.steps && !named;
  return last ? { ...view, step: next.steps, suggested: false } : view;
}

/**
 * Whether all controls are shown: so they are where the view asks for what one of them chooses, and
 * where nothing hides them.
 * @param mean whether the mean of a layer is shown
 */
function initialEverything(
  { alignment, shows, next, ...view }: Partial<ViewOptions>,
  { everything = true }: Partial<TraceState>,
  mean: boolean,
) {
  const aligned = (alignment ?? "off") !== "off";
  const on = FLAGS.some((name) => view[name]);
  return everything || aligned || mean || Boolean(shows) || Boolean(next) || on;
}

/** What is on or off: off where the view says so, as after Back. */
function initialFlags(view: Partial<ViewOptions>, before: Partial<Flags>) {
  return flagsOf((name) =>
    view[name] === undefined ? (before[name] ?? false) : view[name] === true,
  );
}

/** Each flag, as `read` says it is. */
export function flagsOf<Value>(read: (name: (typeof FLAGS)[number]) => Value) {
  return Object.fromEntries(FLAGS.map((name) => [name, read(name)])) as Record<
    (typeof FLAGS)[number],
    Value
  >;
}

/** The guessing that goes on or, where nothing was guessed, begins. */
function initialGuess({ guess, ahead }: Partial<TraceState>, step: number) {
  return guessOn(guess ?? startGuessing(step, false, ahead), step);
}

/** The cell whose arithmetic is shown: none where the view says so, as after Back. */
function initialCell({ cell }: Partial<ViewOptions>, before: Partial<TraceState>): Cell | null {
  if (cell === undefined) return before.inside ?? null;
  return cell && { query: cell[0], key: cell[1] };
}

/**
 * How the next token is shown: by the parts of heads where the view says so, and not where it says
 * something else, as after Back.
 */
function initialNextView(
  { next }: Partial<ViewOptions>,
  { nextView = "percent" }: Partial<TraceState>,
): NextView {
  if (next === "heads") return "heads";
  return next === null && nextView === "heads" ? "percent" : nextView;
}

/** Whether the first hint was followed: another text that opens in the middle gives it again. */
function wasHinted(view: Partial<ViewOptions>, before: Partial<TraceState>) {
  if (before.hinted === undefined) return view.step !== null && !view.ahead;
  return before.hinted && !(view.ahead && view.step && view.step !== before.step);
}

/**
 * The step that is asked for; where there is none such, `last`, or the first mask token.
 * @param trace in the unit on screen
 * @param asked as the app counts: a mask token has the step of its position
 */
function initialStep(pieces: Trace, trace: Trace, asked: number, last: number) {
  if (pieces.masks.length) return pieces.masks.indexOf(asked - 1) + 1 || 1;
  const exists = Number.isInteger(asked) && asked >= 1 && asked <= pieces.steps;
  return exists ? stepInUnit(trace, asked) : last;
}
