/**
 * Carry out interventions on a Transformer while it runs, as `explorer/model/actions.py`
 * does: remove heads, edit cells and rows of their weights, or leave out a part of the whole model.
 */

import { type Intervention, type Of, readIntervention } from "../../trace/js/verbs.ts";
import { type CapturedArrays, layersOf, PATHS, type Site, sitesOf } from "./attentionCapture.ts";
import { type Action, type Values, watching } from "./hookPoint.ts";
import { reasonCodes } from "./masks.ts";
import type { ModelConfig } from "./modelConfig.ts";
import { ModelError } from "./modelError.ts";
import type { Transformer } from "./transformer.ts";

type CellEdit = Of<"close" | "open">;
type Row = Of<"row">;
type Part = Of<"omit">["part"];

const EXAMPLE = "ablate cross.1.2"; // of a line

/** Hook points by path, each with what is done there, in this order. */
type Actions = [string, Action][];

/** Part → end of the hook points' paths, and what leaves it out there. */
const PARTS: Record<Part, [string, (headWidth: number) => Action]> = {
  scaling: [
    ".scores",
    (headWidth) => (scores) => {
      const root = Math.fround(Math.sqrt(headWidth));
      for (let index = 0; index < scores.length; index++) scores[index] *= root;
    },
  ],
  mask: [".mask", () => (allowed) => allowed.fill(1)],
  positions: [".position_vectors", () => (vectors) => vectors.fill(0)],
};

/** The rows that a pass computes: `first` and those after it. */
type Rows = { first: number };

/** The interventions of lines, equal ones once. Throws a `ModelError` on a line that is none, or that needs means. */
export function interventionsOf(lines: readonly string[]): Intervention[] {
  return [...new Set(lines)].map((line) => {
    const one = readIntervention(line);
    if (!one) throw new ModelError("bad_intervention", { text: line, examples: EXAMPLE });
    if (one.verb === "ablate" && one.how === "mean") throw new ModelError("no_means");
    return one;
  });
}

/**
 * The result of `run`, in which `model` runs with interventions, in full passes and step by step.
 * Throws a `ModelError` on heads that the model does not have, and if none would be left.
 */
export function intervening<Result>(
  model: Transformer,
  interventions: readonly Intervention[],
  run: () => Result,
) {
  if (!interventions.length) return run();
  for (const one of interventions) refuseUnknown(model.config, one);
  const actions = [
    ...omissions(model, interventions),
    ...removals(model.config, interventions),
    ...edits(model.config, interventions),
  ];
  return watching(model.hookPoints, actions, run);
}

/** Whether a later position is unmasked; step-by-step decoding cannot attend to it. */
export function looksAhead(interventions: readonly Intervention[]) {
  return interventions.some(
    (one) =>
      (one.verb === "omit" && one.part === "mask") ||
      (one.verb === "open" && one.site === "decoder" && one.key > one.query),
  );
}

/** The integrity checks that must fail, as `expected_errors` in `explorer/core/interventions.py`. */
export function expectedErrors(interventions: readonly Intervention[], causal: boolean) {
  const unmasked = interventions.some((one) => one.verb === "omit" && one.part === "mask");
  const opened = interventions.some((one) => one.verb === "open" && one.site !== "decoder");
  return [
    ...(!causal || looksAhead(interventions) ? ["cached_equals_full"] : []),
    ...(unmasked || opened ? ["padding_changes_nothing"] : []),
  ];
}

function refuseUnknown(config: ModelConfig, one: Intervention) {
  if (!("site" in one)) return;
  const { site, layer, head } = one;
  const sites = sitesOf(config);
  if (!sites.includes(site))
    throw new ModelError("no_such_site", { site, sites: sites.join(", ") });
  const sizes = { layers: layersOf(config, site), heads: config.heads };
  if (isWithin(layer ?? 0, sizes.layers) && isWithin(head ?? 0, sizes.heads)) return;
  const name = [site, layer ?? "*", head ?? "*"].join(".");
  throw new ModelError("no_such_head", { head: name, site, ...sizes });
}

function isWithin(number: number, size: number) {
  return number >= 0 && number < size;
}

function attentions(config: ModelConfig): { site: Site; layer: number }[] {
  return sitesOf(config).flatMap((site) =>
    Array.from({ length: layersOf(config, site) }, (_, layer) => ({ site, layer })),
  );
}

/** Leave parts out of every layer. */
function omissions(model: Transformer, interventions: readonly Intervention[]): Actions {
  const { d_model, heads } = model.config;
  return interventions.flatMap((one) => {
    if (one.verb !== "omit") return [];
    const [end, action] = PARTS[one.part];
    const paths = [...model.hookPoints.keys()].filter((path) => path.endsWith(end));
    return paths.map((path): Actions[number] => [path, action(d_model / heads)]);
  });
}

/** Make the outputs of removed heads zero, before the output projection. */
function removals(config: ModelConfig, interventions: readonly Intervention[]): Actions {
  const all = attentions(config).flatMap(({ site, layer }) =>
    Array.from({ length: config.heads }, (_, head) => ({ site, layer, head })),
  );
  const removed = all.filter((head) => isRemoved(interventions, head));
  if (removed.length === all.length) throw new ModelError("nothing_left");
  return removed.map(({ site, layer, head }) => [
    `${PATHS[site](layer)}.head_output`,
    (values, [heads]) => {
      const size = values.length / heads;
      values.fill(0, head * size, (head + 1) * size);
    },
  ]);
}

type Head = { site: Site; layer: number; head: number };

/** Whether a head is removed. */
export function isRemoved(interventions: readonly Intervention[], place: Head) {
  const kept = interventions.filter((one) => one.verb === "keep" && one.site === place.site);
  const ablated = interventions.some((one) => one.verb === "ablate" && names(one, place));
  return ablated || (kept.length > 0 && !kept.some((one) => names(one, place)));
}

/** Whether an intervention is on this head. */
function names(one: Intervention, { site, layer, head }: Head) {
  if (!("site" in one) || one.site !== site) return false;
  return (one.layer ?? layer) === layer && (one.head ?? head) === head;
}

/** Edit cells and rows of the attentions that have any. */
function edits(config: ModelConfig, interventions: readonly Intervention[]): Actions {
  const rows: Rows = { first: 0 };
  const found = attentions(config).flatMap(({ site, layer }) => {
    const own = interventions.filter(
      (one) => "site" in one && one.site === site && (one.layer ?? layer) === layer,
    );
    const cells = own.filter((one) => isCell(one));
    const set = own.filter((one) => one.verb === "row");
    if (!cells.length && !set.length) return [];
    return editor(PATHS[site](layer), site === "encoder" ? { first: 0 } : rows, cells, set);
  });
  if (!found.length || !config.decoder_layers) return found;
  // Step by step, self-attention has all keys so far, but only the last query.
  const watch: Action = (_, [, queries, keys]) => {
    rows.first = keys - queries;
  };
  return [[`${PATHS.decoder(0)}.scores`, watch], ...found];
}

function isCell(one: Intervention): one is CellEdit {
  return one.verb === "close" || one.verb === "open";
}

/** Edits cells and rows of one attention; its mask is edited before its pattern. */
function editor(path: string, rows: Rows, cells: CellEdit[], set: Row[]): Actions {
  let allowed: Values = new Uint8Array();
  const editMask: Action = (mask, [heads, queries, keys]) => {
    for (const { verb, head, query, key } of cells) {
      const row = query - rows.first;
      if (row < 0 || row >= queries || key >= keys) continue;
      for (let own = head ?? 0; own <= (head ?? heads - 1); own++)
        mask[(own * queries + row) * keys + key] = Number(verb === "open");
    }
    allowed = mask;
    for (let row = 0; row < heads * queries; row++) {
      if (!mask.subarray(row * keys, (row + 1) * keys).includes(1))
        throw new ModelError("masked_row", { query: rows.first + (row % queries) });
    }
  };
  const overrideRows: Action = (pattern, [, queries, keys]) => {
    for (const { head, query, weights } of set) {
      const row = query - rows.first;
      if (row < 0 || row >= queries) continue;
      const start = ((head as number) * queries + row) * keys;
      const own = allowed.subarray(start, start + keys);
      pattern.set(rowOfWeights(weights, own, query), start);
    }
  };
  return [
    [`${path}.mask`, editMask],
    [`${path}.pattern`, overrideRows],
  ];
}

/** Given weights on the cells that are allowed, made to sum to 1. */
function rowOfWeights(given: number[], allowed: Values, query: number) {
  const weights = Array.from(allowed, (open, key) => (open ? (given[key] ?? 0) : 0));
  const largest = Math.max(...weights);
  if (largest <= 0) throw new ModelError("row_on_masked_cells", { query });
  const shares = weights.map((weight) => weight / largest);
  const sum = shares.reduce((all, share) => all + share, 0);
  return shares.map((share) => share / sum);
}

/**
 * Refuse a cell or a row outside the attention, a row with more weights than keys, and an edit that does
 * not change its cell. Else, the mask codes of an attention whose cells are edited are those of each
 * head: (layer, head, query, key).
 * @param arrays whose mask codes (query, key) are those without edits; changed in place
 * @param padding of the source
 */
export function editMaskCodes(
  config: ModelConfig,
  interventions: readonly Intervention[],
  arrays: CapturedArrays,
  padding: boolean[],
) {
  for (const one of interventions) if (one.verb === "row") refuseRow(one, arrays);
  const unmasked = interventions.some((one) => one.verb === "omit" && one.part === "mask");
  for (const site of sitesOf(config)) {
    const own = interventions.filter((one) => one.verb === "row" || isCell(one));
    const here = own.filter((one) => one.site === site);
    if (!here.length) continue;
    const { values, shape } = arrays[`${site}.closed`];
    const [queries, keys] = shape;
    const heads = layersOf(config, site) * config.heads;
    const allowed = new Uint8Array(heads * values.length);
    for (let head = 0; head < heads; head++)
      allowed.set(
        values.map((code) => Number(code === 0)),
        head * values.length,
      );
    for (const one of here)
      if (isCell(one) && !editCell(config, one, allowed, queries, keys) && !unmasked)
        throw unchanged(one);
    const codes = new Uint8Array(allowed.length);
    for (let head = 0; head < heads; head++) {
      const own = allowed.subarray(head * values.length, (head + 1) * values.length);
      const mask = { rows: queries, keys, allowed: own };
      const padded = site === "decoder" ? Array(keys).fill(false) : padding;
      codes.set(reasonCodes(mask, queries, padded, site === "decoder"), head * values.length);
    }
    arrays[`${site}.closed`] = {
      values: codes,
      shape: [layersOf(config, site), config.heads, queries, keys],
    };
  }
}

/** Edit a cell in all its heads. Returns whether that changes it. */
function editCell(
  { heads }: ModelConfig,
  { verb, site, layer, head, query, key }: CellEdit,
  allowed: Uint8Array,
  queries: number,
  keys: number,
) {
  if (!isWithin(query, queries) || !isWithin(key, keys))
    throw new ModelError("no_such_cell", { site, row: query, column: key, queries, keys });
  const open = Number(verb === "open");
  let changes = false;
  for (let own = 0; own * queries * keys < allowed.length; own++) {
    if ((layer ?? Math.floor(own / heads)) !== Math.floor(own / heads)) continue;
    if ((head ?? own % heads) !== own % heads) continue;
    const place = (own * queries + query) * keys + key;
    changes ||= allowed[place] !== open;
    allowed[place] = open;
  }
  return changes;
}

function unchanged({ verb, site, layer, head, query, key }: CellEdit) {
  const [word, error] =
    verb === "open" ? ["unmask", "already_unmasked"] : ["mask", "already_masked"];
  const intervention = `${word} ${site}.${layer ?? "*"}.${head ?? "*"} ${query} ${key}`;
  return new ModelError(error, { intervention });
}

function refuseRow({ site, query, weights }: Row, arrays: CapturedArrays) {
  const [queries, keys] = arrays[`${site}.closed`].shape.slice(-2);
  if (!isWithin(query, queries)) throw new ModelError("no_such_row", { site, row: query, queries });
  if (weights.length > keys)
    throw new ModelError("too_many_weights", { site, given: weights.length, keys });
}
