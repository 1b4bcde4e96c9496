import { csvTable } from "../../dom/js/csv.ts";
import { FULL_WEIGHT } from "../../trace/js/look.ts";
import type { Site } from "../../trace/js/trace.ts";
import type { Table } from "./similarityChart.ts";
import type { Patched } from "./viewPayload.ts";

type ShownHead = { site: Site; layer: number; head: number };

const WEIGHT_DIGITS = 4;

/**
 * The weights of two heads and their difference, one line a cell; a cell that is masked in a head is
 * empty there.
 * @param names of the two heads
 * @param difference second minus first
 */
export function pairTable(
  names: [string, string],
  heads: [ShownHead, ShownHead],
  difference: Float32Array,
  tokenOf: (side: "queryTokens" | "keyTokens", position: number) => string,
) {
  const [{ site }] = heads;
  const [first, second] = heads.map(writtenWeights);
  const lines = Array.from(difference, (value, cell) => {
    const [query, key] = [Math.floor(cell / site.keys), cell % site.keys];
    return [
      query,
      tokenOf("queryTokens", query),
      key,
      tokenOf("keyTokens", key),
      first[cell],
      second[cell],
      first[cell] || second[cell] ? Number(value.toFixed(WEIGHT_DIGITS)) : "",
    ];
  });
  const heading = ["query", "query token", "key", "key token", ...names, "difference"];
  return csvTable([heading, ...lines]);
}

/**
 * How alike two heads are and whether they are matched, one line for each two.
 * @param names of the two traces
 */
export function similarityTable(
  names: [string, string],
  { rows, columns, values, matched }: Table,
) {
  const lines = rows.flatMap((own, row) =>
    columns.map((other, column) => [
      own.layer,
      own.head,
      other.layer,
      other.head,
      values[row][column].toFixed(WEIGHT_DIGITS),
      matched[row][column] ? 1 : 0,
    ]),
  );
  const heading = names.flatMap((name) => [`${name} layer`, `${name} head`]);
  return csvTable([[...heading, "similarity", "matched"], ...lines]);
}

/** What was patched, with the columns of `Patching.table` in Python. */
export function patchedTable({ tables }: Pick<Patched, "tables">) {
  const ofHeads = tables.every(({ tokens }) => tokens.length === 0);
  const place = ofHeads
    ? ["site", "layer", "head"]
    : ["stack", "layer", "position", "clean_token", "corrupted_token"];
  const lines = tables.flatMap(({ site, tokens, cells }) =>
    cells.map(([layer, column, restored, metric]) => [
      site,
      layer,
      column,
      ...(tokens[column] ?? []),
      Number(metric.toFixed(WEIGHT_DIGITS)),
      Number(restored.toFixed(WEIGHT_DIGITS)),
    ]),
  );
  return csvTable([[...place, "metric", "restored"], ...lines]);
}

/** The weights of a head as they stand in a table. */
function writtenWeights({ site, layer, head }: ShownHead) {
  const masked = site.masked(layer, head);
  const scale = site.scale / FULL_WEIGHT;
  return Array.from(site.weights(layer, head), (code, cell) =>
    masked[cell] ? "" : (code * scale).toFixed(WEIGHT_DIGITS),
  );
}
