import type { ViewOptions } from "./trace.ts";

// Written from explorer/core/look.py by `make bundles`; edit that instead.

/** A field of what is looked at. */
export interface Field {
  name: keyof Selection; // in an address and in a report
  kind: "choice" | "number" | "flag" | "switch" | "pair" | "zoom";
  choices?: readonly string[];
  limit?: "sites" | "layers" | "heads" | "steps" | "cells" | "zooms"; // of a trace
  state?: string; // its name in the state of the player, if that has it
  needsServer?: boolean; // whether a page without a server cannot show it
}

/** What the visitor looks at; see `Selection` in Python. */
export interface Selection {
  site: "encoder" | "decoder" | "cross" | null;
  layer: number | null;
  head: number | null;
  step: number | null;
  alignment: "prediction" | "input" | null;
  guess: true | null;
  ahead: boolean | null;
  zoom: [number, number, number, number] | null;
  cell: [number, number] | null;
  inside: "before" | "score" | "after" | "depth" | "without" | null;
  shows:
    | "alti"
    | "value_norm"
    | "value_norm_residual"
    | "alti_plus"
    | "rollout"
    | "leave_one_out"
    | null;
  other?: [number, number] | null;
  next: "heads" | null;
  words: true | null;
  everything: true | null;
}

/** Attention paths. */
export const SITES = ["encoder", "decoder", "cross"] as const;

/** The row from which a token is aligned. */
export const TIMINGS = ["prediction", "input"] as const;

/** Of a cell, in place of its calculation. */
export const INSIDE_VIEWS = ["before", "score", "after", "depth", "without"] as const;

/** Of the large map, in place of weights. */
export const SHOWN_MAPS = [
  "alti",
  "value_norm",
  "value_norm_residual",
  "alti_plus",
  "rollout",
  "leave_one_out",
] as const;

/** Of the next token, in place of probabilities. */
export const NEXT_VIEWS = ["heads"] as const;

/** By code. */
export const MASK_REASONS = [
  "",
  "later position",
  "padding",
  "edited",
  "outside the window",
] as const;

export const UNMASKED = 0;

export const LATER = 1;

export const PADDING = 2;

export const EDITED = 3;

export const OUTSIDE = 4;

/** Parts of a head that it can be computed without. */
export const OMISSIONS = ["scaling", "mask", "positions"] as const;

/** The tokens with the first ids. */
export const SPECIALS = ["<pad>", "<bos>", "<eos>"] as const;

/** Of any vocabulary. */
export const KNOWN_SPECIALS = [
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
] as const;

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

/** At a time. */
export const MOST_INTERVENTIONS = 24;

/** Characters that a code of squares holds. */
export const LONGEST_ADDRESS = 1500;

/** Code of the largest weight. */
export const FULL_WEIGHT = 65535;

/** In place of a head: the mean of the heads of its layer. */
export const MEAN = -1;

/** Of a picture of a large trace. */
export const LARGEST_CODE = 255;

/** Of the player's payload. */
export const FORMAT_VERSION = 1;

/** In the address of the static site: show what its first page showed last. */
export const LAST_SHOWN = "last";

/** Of the state of the player, what is on or off; guessing has more states. */
export const FLAGS = ["words", "everything"] as const;

export const FIELDS: Field[] = [
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
  { name: "zoom", kind: "zoom", limit: "zooms", state: "zoom" },
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
  { name: "everything", kind: "flag", state: "everything" },
];

/** Of interventions: how a line writes their fields. */
export const VERBS = {
  ablate: {
    site: { kind: "site", choices: ["encoder", "decoder", "cross"] },
    layer: { kind: "place" },
    head: { kind: "place", every: true },
    how: { kind: "choice", choices: ["zero", "mean"], default: "zero" },
  },
  keep: {
    site: { kind: "site", choices: ["encoder", "decoder", "cross"] },
    layer: { kind: "place" },
    head: { kind: "place", every: true },
  },
  close: {
    site: { kind: "site", choices: ["encoder", "decoder", "cross"] },
    layer: { kind: "place", every: true },
    head: { kind: "place", every: true },
    query: { kind: "index" },
    key: { kind: "index" },
  },
  open: {
    site: { kind: "site", choices: ["encoder", "decoder", "cross"] },
    layer: { kind: "place", every: true },
    head: { kind: "place", every: true },
    query: { kind: "index" },
    key: { kind: "index" },
  },
  row: {
    site: { kind: "site", choices: ["encoder", "decoder", "cross"] },
    layer: { kind: "place" },
    head: { kind: "place" },
    query: { kind: "index" },
    weights: { kind: "numbers", least: 0 },
  },
  omit: { part: { kind: "choice", choices: ["scaling", "mask", "positions"] } },
  draw: {
    temperature: { kind: "number", least: 0.1, most: 5 },
    seed: { kind: "whole", least: 0, most: 9999 },
    k: { kind: "whole", mark: "k=", least: 1, most: 9999 },
    p: { kind: "number", mark: "p=", above: true, least: 0, most: 1 },
  },
} as const;

/** Of lines of these verbs among others. */
export const PLACES = { ablate: 0, keep: 1, close: 2, open: 2, row: 3, omit: 4, draw: 5 } as const;

/** Words of the command line for verbs of links. */
export const TYPED = { mask: "close", unmask: "open", "override-row": "row" } as const;

/** Fields that no two lines of a verb share; the later one counts. */
export const ONCE = { ablate: ["site", "layer", "head"], omit: ["part"], draw: [] } as const;

/** What nothing is asked of. */
export const VIEW: ViewOptions = {
  site: null,
  layer: null,
  head: null,
  step: null,
  alignment: null,
  guess: null,
  ahead: null,
  zoom: null,
  cell: null,
  inside: null,
  shows: null,
  other: null,
  next: null,
  words: null,
  everything: null,
  what_if: false,
  forced: [],
  original: [],
  suggested: false,
};
