/** @import { ViewOptions } from "./trace.js" */

// Written from explorer/core/look.py by `make bundles`; edit that instead.

/**
 * @typedef {object} Field of what is looked at
 * @property {keyof Selection} name in an address and in a report
 * @property {"choice" | "number" | "flag" | "switch" | "pair"} kind
 * @property {readonly string[]} [choices]
 * @property {"sites" | "layers" | "heads" | "steps" | "cells"} [limit] of a trace
 * @property {string} [state] its name in the state of the player, if that has it
 * @property {boolean} [needsServer] whether a page without a server cannot show it
 *
 * @typedef {object} Selection what the visitor looks at; see `Selection` in Python
 * @property {"encoder" | "decoder" | "cross" | null} site
 * @property {number | null} layer
 * @property {number | null} head
 * @property {number | null} step
 * @property {"prediction" | "input" | null} alignment
 * @property {true | null} guess
 * @property {boolean | null} ahead
 * @property {[number, number] | null} cell
 * @property {"before" | "score" | "after" | "depth" | "without" | null} inside
 * @property {"alti" | "value_norm" | "value_norm_residual" | "alti_plus" | "rollout" | "leave_one_out" | null} shows
 * @property {[number, number] | null} [other]
 * @property {"heads" | null} next
 * @property {true | null} words
 */

/** Attention paths. */
export const SITES = /** @type {const} */ (["encoder", "decoder", "cross"]);

/** The row from which a token is aligned. */
export const TIMINGS = /** @type {const} */ (["prediction", "input"]);

/** Of a cell, in place of its calculation. */
export const INSIDE_VIEWS = /** @type {const} */ (["before", "score", "after", "depth", "without"]);

/** Of the large map, in place of weights. */
export const SHOWN_MAPS = /** @type {const} */ ([
  "alti",
  "value_norm",
  "value_norm_residual",
  "alti_plus",
  "rollout",
  "leave_one_out",
]);

/** Of the next token, in place of probabilities. */
export const NEXT_VIEWS = /** @type {const} */ (["heads"]);

/** By code. */
export const MASK_REASONS = /** @type {const} */ ([
  "",
  "later position",
  "padding",
  "edited",
  "outside the window",
]);

export const UNMASKED = 0;

export const LATER = 1;

export const PADDING = 2;

export const EDITED = 3;

export const OUTSIDE = 4;

/** Parts of a head that it can be computed without. */
export const OMISSIONS = /** @type {const} */ (["scaling", "mask", "positions"]);

/** The tokens with the first ids. */
export const SPECIALS = /** @type {const} */ (["<pad>", "<bos>", "<eos>"]);

/** Of any vocabulary. */
export const KNOWN_SPECIALS = /** @type {const} */ ([
  "</s>",
  "<bos>",
  "<eos>",
  "<mask>",
  "<pad>",
  "<s>",
  "<|endoftext|>",
  "[CLS]",
  "[MASK]",
  "[PAD]",
  "[SEP]",
]);

/** Characters. */
export const LONGEST_TEXT = 20000;

/** Characters. */
export const LONGEST_SYMBOL = 16;

/** Of a layer, a head or a step in an address. */
export const LARGEST_NUMBER = 9999;

/** Padding tokens added to a text. */
export const MOST_PADDING = 16;

/** Tokens. */
export const MOST_FORCED = 64;

/** Characters that a code of squares holds. */
export const LONGEST_ADDRESS = 1500;

/** Of a picture of a large trace. */
export const LARGEST_CODE = 255;

/** Of the player's payload. */
export const FORMAT_VERSION = 1;

/** In the address of the static site: show what its first page showed last. */
export const LAST_SHOWN = "last";

/** Of the state of the player, what guests follow. */
export const MIRRORED_STATE = /** @type {const} */ ([
  "site",
  "layer",
  "head",
  "step",
  "alignment",
  "guess",
  "ahead",
  "inside",
  "insideView",
  "shows",
  "words",
]);

/** Of that state, what is on or off; guessing has more states. */
export const FLAGS = /** @type {const} */ (["words"]);

/** @type {Field[]} */
export const FIELDS = [
  {
    name: "site",
    kind: "choice",
    choices: ["encoder", "decoder", "cross"],
    limit: "sites",
    state: "site",
  },
  { name: "layer", kind: "number", limit: "layers", state: "layer" },
  { name: "head", kind: "number", limit: "heads", state: "head" },
  { name: "step", kind: "number", limit: "steps", state: "step" },
  { name: "alignment", kind: "choice", choices: ["prediction", "input"], state: "alignment" },
  { name: "guess", kind: "flag", state: "guess" },
  { name: "ahead", kind: "switch", state: "ahead" },
  { name: "cell", kind: "pair", limit: "cells", state: "inside" },
  {
    name: "inside",
    kind: "choice",
    choices: ["before", "score", "after", "depth", "without"],
    state: "insideView",
  },
  {
    name: "shows",
    kind: "choice",
    choices: ["alti", "value_norm", "value_norm_residual", "alti_plus", "rollout", "leave_one_out"],
    state: "shows",
    needsServer: true,
  },
  { name: "other", kind: "pair" },
  { name: "next", kind: "choice", choices: ["heads"], state: "nextView", needsServer: true },
  { name: "words", kind: "flag", state: "words" },
];

/** @type {ViewOptions} what nothing is asked of */
export const VIEW = {
  site: null,
  layer: null,
  head: null,
  step: null,
  alignment: null,
  guess: null,
  ahead: null,
  cell: null,
  inside: null,
  shows: null,
  other: null,
  next: null,
  words: null,
  what_if: false,
  forced: [],
  original: [],
  suggested: false,
};
