import { createContributions } from "./contributions.js";
import { readEnvelope } from "./envelope.js";
import { largeSite } from "./largeSite.js";
import { createLoadedHeads } from "./loadedHeads.js";
import { predictingSite } from "./predictingRows.js";
import { offers } from "./traceQuestions.js";

/** @import { Contributions, HeadOrMethod } from "./contributions.js" */
/** @import { PayloadArray } from "./envelope.js" */
/** @import { LoadedHeads } from "./loadedHeads.js" */
/** @import { INSIDE_VIEWS, NEXT_VIEWS, Selection, SITES, TIMINGS } from "./look.js" */
/** @import { Offer } from "./traceQuestions.js" */
/** @import { Strings } from "./sentences.js" */

/**
 * @typedef {typeof SITES[number]} SiteName
 * @typedef {"off" | typeof TIMINGS[number]} Alignment which row links a target token to the source
 *
 * @typedef {"cell" | typeof INSIDE_VIEWS[number]} InsideView a view of the panel *Inside*
 * @typedef {"percent" | "log" | typeof NEXT_VIEWS[number]} NextView the next token by its
 *   probability, on a linear or logarithmic scale, or by what heads add to its choice
 *
 * @typedef {object} Offered what the player offers, see `View` in `player/payload.py`; alignment,
 *   guess: null stays as it was before
 * @property {Alignment | null} alignment
 * @property {boolean | null} guess
 * @property {boolean} what_if
 * @property {boolean} suggested whether the app chose the step, as one that shows much
 * @property {[number, string][]} forced
 * @property {string[]} original
 *
 * @typedef {Omit<Selection, keyof Offered> & Offered} ViewOptions what to show first
 *
 * @typedef {object} IntegrityCheck
 * @property {string} check
 * @property {number | null} error
 * @property {number} limit
 * @property {boolean} ok
 * @property {boolean} [expected]
 *
 * @typedef {"zero" | "mean"} Replacement of the output of a removed head
 *
 * @typedef {object} Facts
 * @property {boolean} [ended]
 * @property {boolean} [given]
 * @property {string} [model]
 * @property {string} [mask]
 * @property {unknown} [interventions] lines of text; a file may hold anything
 * @property {{causal?: boolean}} [config]
 * @property {Partial<Record<SiteName, number>>} [model_layers] layers of the model, where the
 *   trace has fewer
 *
 * @typedef {object} SiteHeader
 * @property {number[]} shape layers, heads, queries, keys
 * @property {number[]} [numbers] of the layers in the model, where they are not 0, 1, 2 …
 * @property {number} scale
 * @property {boolean} [packed] whether only unmasked cells are sent
 * @property {[number, number, Replacement][]} removed layer, head and replacement
 * @property {number[]} [picture] rows and columns of the pictures of a large trace
 * @property {number[]} [reasons] codes of its masked cells
 * @property {number[][]} [gold] gold weight by layer and head, where gold is known
 *
 * @typedef {object} PredictionRow one label; see `core/predictions.py`
 * @property {string} label
 * @property {number} start the first token it is about
 * @property {number} stop the one behind the last
 * @property {number} rank among the labels of these tokens
 * @property {number} value
 * @property {number | null} probability null of a score without one
 * @property {boolean} chosen
 *
 * @typedef {object} Prediction
 * @property {"class" | "labels" | "score" | "span" | "tags" | "replaced"} kind
 * @property {PredictionRow[]} rows
 *
 * @typedef {object} TraceHeader
 * @property {string[]} source
 * @property {string[]} target
 * @property {string[]} predicted
 * @property {string} text the output as text
 * @property {{source: boolean[], outputs: boolean[]}} content which positions hold content tokens
 * @property {Partial<Record<SiteName, SiteHeader>>} sites
 * @property {string[]} labels
 * @property {Facts} facts
 * @property {number} [prompt] tokens fed in that are the prompt
 * @property {number} [second] position of the first token of a second text, 0 without one
 * @property {Prediction} [predictions] of a model that predicts no tokens
 * @property {string} project name and version of the project
 * @property {string[]} reasons by mask code
 * @property {IntegrityCheck[] | null} integrity null until it is checked
 * @property {string} language
 * @property {Strings} strings
 * @property {ViewOptions} view
 * @property {boolean} marked whether pieces carry marks of word starts
 * @property {number[]} [rows]
 * @property {number[]} [columns]
 * @property {string[]} [original] outputs without forced tokens, of a trace in words
 * @property {Offer} [resources] what can be asked about the trace, if anything
 * @property {Record<string, string> | null} [visit] in class mode, the query that asks for this trace; null
 *   where only this visitor can ask
 *
 * @typedef {object} Picture one head as a thumbnail shows it, row by row
 * @property {number} queries
 * @property {number} keys
 * @property {Uint16Array} weights codes 0..FULL_WEIGHT
 * @property {Uint8Array} masked
 *
 * @typedef {object} Site attention of one kind; matrices are row by row, queries × keys
 * @property {SiteName} name
 * @property {number} layers
 * @property {number[]} numbers of the layers in the model; in a hybrid some have no attention
 * @property {number} heads
 * @property {number} queries
 * @property {number} keys
 * @property {number} scale weight of the largest code
 * @property {number} [widest] keys of the longer of two compared sites
 * @property {string[]} queryTokens
 * @property {string[]} keyTokens
 * @property {(layer: number, head: HeadOrMethod) => Uint16Array} weights codes 0..FULL_WEIGHT; only where it `has` them
 * @property {(layer: number, head: HeadOrMethod) => Uint8Array} masked codes of the mask reasons, 0 = unmasked
 * @property {(layer: number, head: HeadOrMethod) => Replacement | null} removed null where the head is in use
 * @property {(layer: number, head: HeadOrMethod) => boolean} has whether the weights are here
 * @property {(layer: number, head: number) => Picture} picture for a thumbnail, there for every head
 * @property {(layer: number, head: HeadOrMethod) => string} nameOf by which weights are asked for
 * @property {number[]} reasons mask codes that occur
 * @property {number[][] | null} gold gold weights that were computed by Python
 * @property {(query: number, key: number) => number} drop of ln p (nats) without the key of a cell,
 *   by leave-one-out, once that is loaded
 *
 * @typedef {object} Candidate
 * @property {number} rank
 * @property {string} token
 * @property {number} probability
 * @property {boolean} chosen
 * @property {boolean} forced
 * @property {boolean} given whether its step is inside the prompt
 * @property {number} id
 *
 * @typedef {object} Trace
 * @property {TraceHeader} header
 * @property {string[]} source
 * @property {string[]} target
 * @property {string[]} predicted
 * @property {number} steps rows of the target; without a target, mask tokens
 * @property {number} prompt how many rows are the prompt, 0 without one
 * @property {number} [second] position of the first source token of a second text, 0 without one
 * @property {number[]} masks without a target: the rows of the mask tokens that are filled in
 * @property {string[]} fillings what is filled in, by row; "" elsewhere, empty with a target
 * @property {Partial<Record<SiteName, Site>>} sites
 * @property {Site | null} predicting of a trace in words: its cross-attention by the rows that predict
 * @property {Candidate[][]} candidates by row, best first
 * @property {Uint8Array | null} gold bits by row and key
 * @property {Trace | null} words the same trace in words
 * @property {LoadedHeads | null} heads of a large trace, shared by pieces and words
 * @property {Contributions} contributions of keys to queries, once somebody asked for them
 * @property {number[] | null} rows of a trace in words: position of each target word's last piece
 * @property {number[] | null} columns the same of the source words
 */

export const FULL_WEIGHT = 65535; // code of the largest weight
export const MEAN = -1; // in place of a head: the mean of the heads of its layer

/**
 * Read the payload of a trace.
 * @param {Uint8Array} bytes
 * @param {Trace} [pieces] the trace in pieces, for what that in words leaves out
 * @returns {Trace}
 */
export function readTrace(bytes, pieces) {
  const { header: own, array } = /** @type {ReturnType<typeof readEnvelope<TraceHeader>>} */ (
    readEnvelope(bytes)
  );
  const header = { ...pieces?.header, ...own };
  const heads = pieces
    ? pieces.heads
    : offers({ pieces: { header } }, "head")
      ? createLoadedHeads()
      : null;
  const contributions = pieces?.contributions.words ?? createContributions(createContributions());
  /** @type {Partial<Record<SiteName, Site>>} */
  const sites = {};
  for (const name of /** @type {SiteName[]} */ (Object.keys(header.sites)))
    sites[name] = readSite(
      name,
      header,
      array,
      heads ?? contributions,
      pieces ? "words" : "pieces",
    );
  const words = array("words");
  const candidates = readCandidates(header, array);
  const masks = header.target.length
    ? []
    : candidates.flatMap((row, at) => (row.length ? [at] : []));
  const reads = header.predictions !== undefined && !header.predicted.length; // decodes nothing
  /** @type {Trace} */
  const trace = {
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
    gold: /** @type {Uint8Array | null} */ (array("gold")),
    words: null,
    heads,
    contributions,
    rows: header.rows ?? null,
    columns: header.columns ?? null,
  };
  if (words) trace.words = readTrace(/** @type {Uint8Array} */ (words), trace);
  return trace;
}

/**
 * The cross-attention of a trace in words by the rows that predict; null without cross-attention.
 * @param {Partial<Record<SiteName, Site>>} sites
 * @param {Trace} pieces
 * @param {TraceHeader} header
 */
function predictingCross({ cross }, pieces, { rows, columns }) {
  const own = pieces.sites.cross;
  return cross && own && rows && columns ? predictingSite(cross, own, rows, columns) : null;
}

/**
 * One site: sizes, tokens, and the weight and mask codes of its heads.
 * @param {SiteName} name
 * @param {TraceHeader} header
 * @param {(name: string) => PayloadArray | null} array
 * @param {LoadedHeads | Contributions} loaded what comes later: the heads of a large trace, and else
 *   the contributions
 * @param {"pieces" | "words"} unit
 * @returns {Site}
 */
function readSite(name, header, array, loaded, unit) {
  const own = /** @type {SiteHeader} */ (header.sites[name]);
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
      ? largeSite(name, own, array, loaded, unit)
      : wholeSite(name, own, array, loaded)),
  };
}

/**
 * The weight and mask codes of a site that came with its trace.
 * @param {SiteName} name
 * @param {SiteHeader} header
 * @param {(name: string) => PayloadArray | null} array
 * @param {Contributions} contributions
 * @returns {Pick<Site, "weights" | "masked" | "has" | "picture" | "nameOf" | "reasons" | "gold" | "drop">}
 */
function wholeSite(name, { shape, packed }, array, contributions) {
  const [layers, heads, queries, keys] = shape;
  const area = queries * keys;
  const codes = /** @type {Uint16Array} */ (array(`${name}.attention`));
  const mask = /** @type {Uint8Array} */ (array(`${name}.closed`) ?? new Uint8Array(area));
  const weights = packed ? unpack(codes, mask, layers * heads, area) : codes;
  /** @type {<Codes extends Uint8Array | Uint16Array>(codes: Codes, layer: number, head: number) => Codes} */
  const one = (all, layer, head) => {
    const start = (layer * heads + head) * area;
    return /** @type {typeof all} */ (all.subarray(start, start + area));
  };
  /** @type {<Codes extends Uint8Array | Uint16Array>(codes: Codes, layer: number) => Codes[]} */
  const ofLayer = (all, layer) => Array.from({ length: heads }, (_, head) => one(all, layer, head));
  const meanWeights = byLayer((layer) => meanOf(ofLayer(weights, layer)));
  const meanMask = byLayer((layer) => maskedInAll(ofLayer(mask, layer)));
  const masks = mask.length / area; // one, one a layer, or one a head
  /** @type {Site["weights"]} */
  const weightsOf = (layer, head) => {
    if (typeof head === "string") return contributions.codes(head, name, layer, area);
    return head === MEAN ? meanWeights(layer) : one(weights, layer, head);
  };
  /** @type {Site["masked"]} */
  const maskedOf = (layer, head) => {
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

/**
 * `compute`, called once a layer.
 * @template Result
 * @param {(layer: number) => Result} compute
 * @returns {(layer: number) => Result}
 */
function byLayer(compute) {
  /** @type {Map<number, Result>} */
  const known = new Map();
  return (layer) => {
    const result = known.get(layer) ?? compute(layer);
    known.set(layer, result);
    return result;
  };
}

/**
 * The mean of the heads' codes.
 * @param {Uint16Array[]} heads
 */
function meanOf(heads) {
  return heads[0].map((_, cell) =>
    Math.round(heads.reduce((sum, codes) => sum + codes[cell], 0) / heads.length),
  );
}

/**
 * Masked where every head masks the cell, for the first head's reason.
 * @param {Uint8Array[]} heads
 */
function maskedInAll(heads) {
  return heads[0].map((code, cell) => (heads.every((codes) => codes[cell] !== 0) ? code : 0));
}

/**
 * Put the codes of the unmasked cells back in their places, zeros at masked cells.
 * @param {Uint16Array} codes
 * @param {Uint8Array} mask
 * @param {number} matrices
 * @param {number} area cells of one matrix
 */
function unpack(codes, mask, matrices, area) {
  const unmasked = [];
  for (let cell = 0; cell < area; cell += 1) if (mask[cell] === 0) unmasked.push(cell);
  const weights = new Uint16Array(matrices * area);
  for (let matrix = 0, from = 0; matrix < matrices; matrix += 1) {
    for (const cell of unmasked) weights[matrix * area + cell] = codes[from++];
  }
  return weights;
}

/**
 * The token that is taken among the candidates of a row; "" without any.
 * @param {Candidate[]} row
 */
function fillingOf(row) {
  return row.find(({ chosen }) => chosen)?.token ?? "";
}

/**
 * Candidates by row of the target or, without one, of the source; best first.
 * @param {TraceHeader} header
 * @param {(name: string) => PayloadArray | null} array
 */
function readCandidates(header, array) {
  /** @type {Candidate[][]} */
  const rows = (header.target.length ? header.target : header.source).map(() => []);
  const steps = array("steps.step");
  if (!steps) return rows;
  /** @param {string} name */
  const column = (name) => /** @type {PayloadArray} */ (array(`steps.${name}`));
  const [rank, label, probability] = [column("rank"), column("label"), column("probability")];
  const [id, chosen, forced] = [column("id"), column("chosen"), column("forced")];
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
      id: id[index],
    });
  });
  for (const row of rows) row.sort((one, other) => one.rank - other.rank);
  return rows;
}
