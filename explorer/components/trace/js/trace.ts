import type { Strings } from "../../dom/js/sentences.ts";
import { type PayloadArray, readEnvelope } from "../../page/js/envelope.ts";
import { type Contributions, createContributions, type HeadOrMethod } from "./contributions.ts";
import { drawingIn } from "./drawing.ts";
import { largeSite } from "./largeSite.ts";
import { createLoadedHeads, type LoadedHeads } from "./loadedHeads.ts";
import {
  type INSIDE_VIEWS,
  MEAN,
  type NEXT_VIEWS,
  type Selection,
  type SITES,
  type TIMINGS,
} from "./look.ts";
import { predictingSite } from "./predictingRows.ts";
import { type Offer, offers } from "./traceQuestions.ts";

export type SiteName = (typeof SITES)[number];

export type Cell = { query: number; key: number };

/** Which row links a target token to the source. */
export type Alignment = "off" | (typeof TIMINGS)[number];

export type InsideView = "cell" | (typeof INSIDE_VIEWS)[number]; // a view of the panel *Inside*

/**
 * The next token by its probability, on a linear or logarithmic scale, or by what heads add to its
 * choice.
 */
export type NextView = "percent" | "log" | (typeof NEXT_VIEWS)[number];

/**
 * What the player offers, see `View` in `player/payload.py`; alignment,
 * guess: null stays as it was before.
 */
interface Offered {
  alignment: Alignment | null;
  guess: boolean | null;
  what_if: boolean;
  suggested: boolean; // whether the app chose the step, as one that shows much
  forced: [number, string][];
  original: string[];
}

export type ViewOptions = Omit<Selection, keyof Offered> & Offered; // what to show first

export interface IntegrityCheck {
  check: string;
  error: number | null;
  limit: number;
  ok: boolean;
  expected?: boolean;
}

export type Replacement = "zero" | "mean"; // of the output of a removed head

export interface Facts {
  ended?: boolean;
  given?: boolean;
  check?: string; // how often the model checks its traces: "once", "never"; else always
  model?: string;
  text?: string;
  mask?: string;
  interventions?: unknown; // lines of text; a file may hold anything
  weights_only?: boolean; // whether the model shows its weights and cannot be changed
  config?: { causal?: boolean };
  /** layers of the model, where the trace has fewer */
  model_layers?: Partial<Record<SiteName, number>>;
}

export interface SiteHeader {
  shape: number[]; // layers, heads, queries, keys
  numbers?: number[]; // of the layers in the model, where they are not 0, 1, 2 …
  scale: number;
  packed?: boolean; // whether only unmasked cells are sent
  removed: [number, number, Replacement][]; // layer, head and replacement
  picture?: number[]; // rows and columns of the pictures of a large trace
  reasons?: number[]; // codes of its masked cells
  gold?: number[][]; // gold weight by layer and head, where gold is known
}

/** One label; see `core/predictions.py`. */
export interface PredictionRow {
  label: string;
  start: number; // the first token it is about
  stop: number; // the one behind the last
  rank: number; // among the labels of these tokens
  value: number;
  probability: number | null; // null of a score without one
  chosen: boolean;
}

export interface Prediction {
  kind: "class" | "labels" | "score" | "span" | "tags" | "replaced";
  rows: PredictionRow[];
}

/** A language that a model reads or writes. */
export interface SpokenLanguage {
  code: string;
  name: string; // "French · fr"
}

/** How a model of the library can read a text; `explorer/app/reading_choices.py` writes it. */
export interface ReadingChoices {
  languages: SpokenLanguage[];
  source: SpokenLanguage | null; // that it reads by default; null where it chooses itself
  target: SpokenLanguage | null; // that it writes
  chats: boolean; // whether it can read a text as a user's message
}

interface TraceHeader {
  source: string[];
  target: string[];
  predicted: string[];
  text: string; // the output as text
  content: { source: boolean[]; outputs: boolean[] }; // which positions hold content tokens
  sites: Partial<Record<SiteName, SiteHeader>>;
  labels: string[];
  facts: Facts;
  prompt?: number; // tokens fed in that are the prompt
  second?: number; // position of the first token of a second text, 0 without one
  predictions?: Prediction; // of a model that predicts no tokens
  project: string; // name and version of the project
  reasons: string[]; // by mask code
  integrity: IntegrityCheck[] | null; // null until it is checked
  language: string;
  strings: Strings;
  view: ViewOptions;
  marked: boolean; // whether pieces carry marks of word starts
  rows?: number[];
  columns?: number[];
  original?: string[]; // outputs without forced tokens, of a trace in words
  resources?: Offer; // what can be asked about the trace, if anything
  notes?: string; // what the server has to say of it
  reading?: ReadingChoices; // of its model, if that has any
  /** in class mode, the query that asks for this trace; null where only this visitor can ask */
  visit?: Record<string, string> | null;
}

/** One head as a thumbnail shows it, row by row. */
export interface Picture {
  queries: number;
  keys: number;
  weights: Uint16Array; // codes 0..FULL_WEIGHT
  masked: Uint8Array;
}

/** Attention of one kind; matrices are row by row, queries × keys. */
export interface Site {
  name: SiteName;
  layers: number;
  numbers: number[]; // of the layers in the model; in a hybrid some have no attention
  heads: number;
  queries: number;
  keys: number;
  scale: number; // weight of the largest code
  widest?: number; // keys of the longer of two compared sites
  queryTokens: string[];
  keyTokens: string[];
  /** codes 0..FULL_WEIGHT; only where it `has` them */
  weights: (layer: number, head: HeadOrMethod) => Uint16Array;
  /** codes of the mask reasons, 0 = unmasked */
  masked: (layer: number, head: HeadOrMethod) => Uint8Array;
  /** null where the head is in use */
  removed: (layer: number, head: HeadOrMethod) => Replacement | null;
  has: (layer: number, head: HeadOrMethod) => boolean; // whether the weights are here
  picture: (layer: number, head: number) => Picture; // for a thumbnail, there for every head
  nameOf: (layer: number, head: HeadOrMethod) => string; // by which weights are asked for
  reasons: number[]; // mask codes that occur
  gold: number[][] | null; // gold weights that were computed by Python
  /** of ln p (nats) without the key of a cell, by leave-one-out, once that is loaded */
  drop: (query: number, key: number) => number;
}

export interface Candidate {
  rank: number;
  token: string;
  probability: number;
  chosen: boolean;
  forced: boolean;
  given: boolean; // whether its step is inside the prompt
  drawn: boolean; // whether its step has a token drawn at random
  id: number;
}

export interface Trace {
  header: TraceHeader;
  source: string[];
  target: string[];
  predicted: string[];
  steps: number; // rows of the target; without a target, mask tokens
  prompt: number; // how many rows are the prompt, 0 without one
  second?: number; // position of the first source token of a second text, 0 without one
  masks: number[]; // without a target: the rows of the mask tokens that are filled in
  fillings: string[]; // what is filled in, by row; "" elsewhere, empty with a target
  sites: Partial<Record<SiteName, Site>>;
  predicting: Site | null; // of a trace in words: its cross-attention by the rows that predict
  candidates: Candidate[][]; // by row, best first
  gold: Uint8Array | null; // bits by row and key
  words: Trace | null; // the same trace in words
  heads: LoadedHeads | null; // of a large trace, shared by pieces and words
  contributions: Contributions; // of keys to queries, once somebody asked for them
  rows: number[] | null; // of a trace in words: position of each target word's last piece
  columns: number[] | null; // the same of the source words
}

/**
 * Read the payload of a trace.
 * @param pieces the trace in pieces, for what that in words leaves out
 */
export function readTrace(bytes: Uint8Array, pieces?: Trace): Trace {
  const { header: own, array } = readEnvelope<TraceHeader>(bytes);
  const header = { ...pieces?.header, ...own };
  const heads = pieces
    ? pieces.heads
    : offers({ pieces: { header } }, "head")
      ? createLoadedHeads()
      : null;
  const contributions = pieces?.contributions.words ?? createContributions(createContributions());
  const sites: Partial<Record<SiteName, Site>> = {};
  for (const name of Object.keys(header.sites) as SiteName[])
    sites[name] = readSite(name, header, array, heads ?? contributions, pieces);
  const words = array("words");
  const candidates = readCandidates(header, array);
  const masks = header.target.length
    ? []
    : candidates.flatMap((row, at) => (row.length ? [at] : []));
  const reads = header.predictions !== undefined && !header.predicted.length; // decodes nothing
  const trace: Trace = {
    header,
    source: header.source,
    target: header.target,
    predicted: header.predicted,
    steps: reads ? 0 : header.target.length || masks.length,
    prompt: header.prompt ?? 0,
    second: header.second ?? 0,
    masks,
    fillings: masks.length ? candidates.map(fillingOf) : [],
    sites,
    predicting: pieces ? predictingCross(sites, pieces, header) : null,
    candidates,
    gold: array("gold") as Uint8Array | null,
    words: null,
    heads,
    contributions,
    rows: header.rows ?? null,
    columns: header.columns ?? null,
  };
  if (words) trace.words = readTrace(words as Uint8Array, trace);
  return trace;
}

/**
 * The cross-attention of a trace in words by the rows that predict; null without cross-attention.
 */
function predictingCross(
  { cross }: Partial<Record<SiteName, Site>>,
  pieces: Trace,
  { rows, columns }: TraceHeader,
) {
  const own = pieces.sites.cross;
  return cross && own && rows && columns ? predictingSite(cross, own, rows, columns) : null;
}

/**
 * One site: sizes, tokens, and the weight and mask codes of its heads.
 * @param loaded what comes later: the heads of a large trace, and else
 *   the contributions
 * @param pieces of a trace in words
 */
function readSite(
  name: SiteName,
  header: TraceHeader,
  array: (name: string) => PayloadArray | null,
  loaded: LoadedHeads | Contributions,
  pieces: Trace | undefined,
): Site {
  const own = header.sites[name] as SiteHeader;
  const [layers, heads, queries, keys] = own.shape;
  const removed = new Map(own.removed.map(([layer, head, how]) => [`${layer}/${head}`, how]));
  return {
    name,
    layers,
    numbers: own.numbers ?? Array.from({ length: layers }, (_, layer) => layer),
    heads,
    queries,
    keys,
    scale: own.scale,
    queryTokens: name === "encoder" ? header.source : header.target,
    keyTokens: name === "decoder" ? header.target : header.source,
    removed: (layer, head) => removed.get(`${layer}/${head}`) ?? null,
    ...("get" in loaded
      ? largeSite(name, own, array, loaded, pieces)
      : wholeSite(name, own, array, loaded)),
  };
}

/** The weight and mask codes of a site that came with its trace. */
function wholeSite(
  name: SiteName,
  { shape, packed }: SiteHeader,
  array: (name: string) => PayloadArray | null,
  contributions: Contributions,
): Pick<Site, "weights" | "masked" | "has" | "picture" | "nameOf" | "reasons" | "gold" | "drop"> {
  const [layers, heads, queries, keys] = shape;
  const area = queries * keys;
  const codes = array(`${name}.attention`) as Uint16Array;
  const mask = (array(`${name}.closed`) ?? new Uint8Array(area)) as Uint8Array;
  const weights = packed ? unpack(codes, mask, layers * heads, area) : codes;
  const one: <Codes extends Uint8Array | Uint16Array>(
    codes: Codes,
    layer: number,
    head: number,
  ) => Codes = (all, layer, head) => {
    const start = (layer * heads + head) * area;
    return all.subarray(start, start + area) as typeof all;
  };
  const ofLayer: <Codes extends Uint8Array | Uint16Array>(codes: Codes, layer: number) => Codes[] =
    (all, layer) => Array.from({ length: heads }, (_, head) => one(all, layer, head));
  const meanWeights = byLayer((layer) => meanOf(ofLayer(weights, layer)));
  const meanMask = byLayer((layer) => maskedInAll(ofLayer(mask, layer)));
  const masks = mask.length / area; // one, one a layer, or one a head
  const weightsOf: Site["weights"] = (layer, head) => {
    if (typeof head === "string") return contributions.codes(head, name, layer, area);
    return head === MEAN ? meanWeights(layer) : one(weights, layer, head);
  };
  const maskedOf: Site["masked"] = (layer, head) => {
    if (masks === 1) return mask;
    if (masks === layers) return mask.subarray(layer * area, (layer + 1) * area);
    return typeof head === "string" || head === MEAN ? meanMask(layer) : one(mask, layer, head);
  };
  return {
    weights: weightsOf,
    masked: maskedOf,
    has: (_, head) => typeof head === "number" || contributions.loaded(head),
    picture: (layer, head) => ({
      queries,
      keys,
      weights: weightsOf(layer, head),
      masked: maskedOf(layer, head),
    }),
    nameOf: () => "",
    reasons: [...new Set(maskedOf(0, 0))],
    gold: null,
    drop: (query, key) => contributions.drop(name, query * keys + key),
  };
}

/** `compute`, called once a layer. */
function byLayer<Result>(compute: (layer: number) => Result): (layer: number) => Result {
  const known: Map<number, Result> = new Map();
  return (layer) => {
    const result = known.get(layer) ?? compute(layer);
    known.set(layer, result);
    return result;
  };
}

/** The mean of the heads' codes. */
function meanOf(heads: Uint16Array[]) {
  return heads[0].map((_, cell) =>
    Math.round(heads.reduce((sum, codes) => sum + codes[cell], 0) / heads.length),
  );
}

/** Masked where every head masks the cell, for the first head's reason. */
function maskedInAll(heads: Uint8Array[]) {
  return heads[0].map((code, cell) => (heads.every((codes) => codes[cell] !== 0) ? code : 0));
}

/**
 * Put the codes of the unmasked cells back in their places, zeros at masked cells.
 * @param area cells of one matrix
 */
function unpack(codes: Uint16Array, mask: Uint8Array, matrices: number, area: number) {
  const unmasked = [];
  for (let cell = 0; cell < area; cell += 1) if (mask[cell] === 0) unmasked.push(cell);
  const weights = new Uint16Array(matrices * area);
  for (let matrix = 0, from = 0; matrix < matrices; matrix += 1) {
    for (const cell of unmasked) weights[matrix * area + cell] = codes[from++];
  }
  return weights;
}

/** The token that is taken among the candidates of a row; "" without any. */
function fillingOf(row: Candidate[]) {
  return row.find(({ chosen }) => chosen)?.token ?? "";
}

/** Candidates by row of the target or, without one, of the source; best first. */
function readCandidates(header: TraceHeader, array: (name: string) => PayloadArray | null) {
  const rows: Candidate[][] = (header.target.length ? header.target : header.source).map(() => []);
  const steps = array("steps.step");
  if (!steps) return rows;
  const column = (name: string) => array(`steps.${name}`) as PayloadArray;
  const [rank, label, probability] = [column("rank"), column("label"), column("probability")];
  const [id, chosen, forced] = [column("id"), column("chosen"), column("forced")];
  const draws = drawingIn(header.facts) !== null;
  steps.forEach((step, index) => {
    const inPrompt = step < (header.prompt ?? 0);
    rows[step - 1].push({
      rank: rank[index],
      token: header.labels[label[index]],
      probability: probability[index],
      chosen: chosen[index] === 1,
      // Neither a given target nor a prompt was chosen in the app.
      forced: forced[index] === 1 && !header.facts.given && !inPrompt,
      given: inPrompt,
      drawn: draws && !forced[index] && !inPrompt,
      id: id[index],
    });
  });
  for (const row of rows) row.sort((one, other) => one.rank - other.rank);
  return rows;
}
