import { guessOn, startGuessing } from "./guess.js";
import { bestHead } from "./headScores.js";
import { FLAGS } from "./look.js";
import { projectorChosen } from "./projector.js";
import { MEAN } from "./trace.js";
import { inUnit, stepInUnit } from "./unitChoice.js";

/** @import { HeadOrMethod, Method } from "./contributions.js" */
/** @import { Guess } from "./guess.js" */
/** @import { Scale } from "./scale.js" */
/** @import { Cell, TouchedCell } from "./map.js" */
/** @import { Alignment, InsideView, NextView, Site, SiteName, Trace, ViewOptions } from "./trace.js" */

/**
 * @typedef {object} Hover the cell under the pointer
 * @property {number | null} query
 * @property {number | null} key
 * @property {number} layer
 * @property {HeadOrMethod} head
 * @property {number} x of the pointer, in the viewport
 * @property {number} y
 *
 * @typedef {"all" | "aa" | "ab" | "ba" | "bb"} PairPart of two texts, those of the queries and of the
 *   keys that the large map shows
 *
 * @typedef {"weight" | Method} Shows the weights of the head, or contributions by a method
 *
 * @typedef {Record<typeof FLAGS[number], boolean>} Flags what is on or off and needs no rule of its
 *   own, such as whether pieces are merged into words
 *
 * @typedef {Flags & Shown} TraceState what is shown of a trace
 * @typedef {object} Shown
 * @property {SiteName} site
 * @property {number} layer
 * @property {number} head MEAN for the mean of the layer; it stays selected while contributions are
 *   shown, which are of no single head
 * @property {Shows} shows what the large map shows
 * @property {number} step 1..T; 0 for none
 * @property {number} pieceStep step of the pieces before the change to words
 * @property {Alignment} alignment
 * @property {boolean} ahead whether rows not yet decoded are shown
 * @property {Scale | null} scale
 * @property {PairPart} pairPart
 * @property {NextView} nextView how the next token is shown
 * @property {number} temperature at which the candidates are shown, 1 = as the model decodes
 * @property {boolean} projector
 * @property {boolean} more whether the controls behind More are shown, as they are where nothing
 *   hides them
 * @property {boolean} allCandidates whether improbable candidates are listed, too
 * @property {boolean} whatIf
 * @property {boolean} hinted whether the first hint was followed
 * @property {boolean} zoomed
 * @property {boolean} playing
 * @property {Hover | null} hover
 * @property {TouchedCell | null} touched the cell whose hover text was read on a phone
 * @property {Guess | null} guess null while nothing is guessed
 * @property {InsideView} insideView what is shown of that cell
 * @property {Cell | null} inside the cell whose arithmetic is shown; see `shownCell`
 */

/**
 * What is shown first: what the view asks for where the trace has it, else what was shown before.
 * @param {Trace} pieces whose steps the view counts
 * @param {Partial<ViewOptions>} view
 * @param {Partial<TraceState>} before
 * @returns {TraceState}
 */
export function initialState(pieces, view, before) {
  const flags = initialFlags(view, before);
  const trace = inUnit(pieces, flags.words);
  /** @type {(SiteName | null | undefined)[]} */
  const wanted = [view.site, before.site, "cross", "decoder", "encoder"];
  const name = wanted.find((one) => one && trace.sites[one]);
  const site = /** @type {Site} */ (trace.sites[/** @type {SiteName} */ (name)]); // it has one
  const best = bestHead(trace, site);
  /** @type {(value: number | null | undefined, count: number) => boolean} */
  const within = (value, count) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) < count;
  /** @type {(part: "layer" | "head", count: number) => number} */
  const pick = (part, count) =>
    [view[part], before[part], best[part]].find((value) => within(value, count)) ?? 0;
  const asked = view.step ?? 0;
  const guesses = (view.guess ?? Boolean(before.guess)) && trace.predicted.length > 0;
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
    more: initialMore(view, before, mean),
    allCandidates: before.allCandidates ?? false,
    whatIf: view.what_if ?? false,
    hinted: wasHinted(view, before),
    zoomed: false,
    playing: false,
    hover: null,
    touched: null,
    guess: guesses ? initialGuess(before, step) : null,
    insideView: view.inside ?? (view.cell ? "cell" : (before.insideView ?? "cell")),
    inside: initialCell(view, before),
  };
}

/**
 * Whether the controls behind More are shown: so they are where the view asks for what they choose.
 * @param {Partial<ViewOptions>} view
 * @param {Partial<TraceState>} before
 * @param {boolean} mean whether the mean of a layer is shown
 */
function initialMore({ alignment, shows, next, ...view }, { more = true }, mean) {
  const aligned = (alignment ?? "off") !== "off";
  const on = FLAGS.some((name) => view[name]);
  return more || aligned || mean || Boolean(shows) || Boolean(next) || on;
}

/**
 * What is on or off: off where the view says so, as after Back.
 * @param {Partial<ViewOptions>} view
 * @param {Partial<Flags>} before
 */
function initialFlags(view, before) {
  return flagsOf((name) =>
    view[name] === undefined ? (before[name] ?? false) : view[name] === true,
  );
}

/**
 * Each flag, as `read` says it is.
 * @template Value
 * @param {(name: typeof FLAGS[number]) => Value} read
 */
export function flagsOf(read) {
  return /** @type {Record<typeof FLAGS[number], Value>} */ (
    Object.fromEntries(FLAGS.map((name) => [name, read(name)]))
  );
}

/**
 * The guessing that goes on or, where nothing was guessed, begins.
 * @param {Partial<TraceState>} before
 * @param {number} step
 */
function initialGuess({ guess, ahead }, step) {
  return guessOn(guess ?? startGuessing(step, false, ahead), step);
}

/**
 * The cell whose arithmetic is shown: none where the view says so, as after Back.
 * @param {Partial<ViewOptions>} view
 * @param {Partial<TraceState>} before
 * @returns {Cell | null}
 */
function initialCell({ cell }, before) {
  if (cell === undefined) return before.inside ?? null;
  return cell && { query: cell[0], key: cell[1] };
}

/**
 * How the next token is shown: by the parts of heads where the view says so, and not where it says
 * something else, as after Back.
 * @param {Partial<ViewOptions>} view
 * @param {Partial<TraceState>} before
 * @returns {NextView}
 */
function initialNextView({ next }, { nextView = "percent" }) {
  if (next === "heads") return "heads";
  return next === null && nextView === "heads" ? "percent" : nextView;
}

/**
 * Whether the first hint was followed: another text that opens in the middle gives it again.
 * @param {Partial<ViewOptions>} view
 * @param {Partial<TraceState>} before
 */
function wasHinted(view, before) {
  if (before.hinted === undefined) return view.step !== null && !view.ahead;
  return before.hinted && !(view.ahead && view.step && view.step !== before.step);
}

/**
 * The step that is asked for; where there is none such, `last`, or the first mask token.
 * @param {Trace} pieces
 * @param {Trace} trace in the unit on screen
 * @param {number} asked as the app counts: a mask token has the step of its position
 * @param {number} last
 */
function initialStep(pieces, trace, asked, last) {
  if (pieces.masks.length) return pieces.masks.indexOf(asked - 1) + 1 || 1;
  const exists = Number.isInteger(asked) && asked >= 1 && asked <= pieces.steps;
  return exists ? stepInUnit(trace, asked) : last;
}
