/** What a press on a head or on a cell adds to the lines of interventions, or removes; their chips. */

import type { Say } from "../../dom/js/sentences.ts";
import { EDITED, PLACES, UNMASKED } from "./look.ts";
import { headName } from "./stepState.ts";
import type { Cell, Facts, Replacement, Site, SiteName } from "./trace.ts";
import { chipOf, lineOf, type Of, readIntervention, replaces } from "./verbs.ts";

/** Heads; null stands for all layers, or all heads of a layer. */
type Heads = Pick<Of<"close">, "site" | "layer" | "head">;

/** Lines that are added to the interventions in force, and lines that are removed. */
export interface Change {
  add: string[];
  remove: string[];
}

export const NO_CHANGE: Change = { add: [], remove: [] };

type Head = { site: Site; layer: number; head: number };

const DIGITS = 4; // of a weight that is set by hand

/** The lines in the facts of a trace, which may hold anything, that can be read. */
export function linesIn({ interventions }: Partial<Pick<Facts, "interventions">>): string[] {
  const lines = Array.isArray(interventions) ? interventions : [];
  return lines.filter((line) => typeof line === "string" && readIntervention(line) !== null);
}

/** The lines after a change, each once, in the order of those of a trace; see `once` of a verb. */
export function changed(lines: readonly string[], { add, remove }: Change) {
  const all = [...new Set([...lines.filter((line) => !remove.includes(line)), ...add])];
  const read = all.flatMap((line) => readIntervention(line) ?? []);
  const kept = read.filter((one, at) => !read.slice(at + 1).some((later) => replaces(later, one)));
  return kept.sort((one, other) => PLACES[one.verb] - PLACES[other.verb]).map(lineOf);
}

/** Those that mean something on another text, too: not those of its cells. */
export function onAnyText(lines: readonly string[]) {
  return lines.filter((line) => !("query" in (readIntervention(line) ?? {})));
}

/** An intervention as its chip names it. */
export function chipName(line: string, say: Say, sites: Partial<Record<SiteName, Site>>) {
  const one = readIntervention(line);
  if (!one) return line;
  const { key, facts, more } = chipOf(one);
  const heads = "site" in one ? { head: headsName(one, say, sites) } : {};
  return more.reduce(
    (chip, [name, number]) => say(`${key}_more`, { chip, name, number }),
    say(key, { ...heads, ...facts }),
  );
}

/** The heads of an intervention, as sentences and chips name them. */
export function headsName(
  { site, layer, head }: Heads,
  say: Say,
  sites: Partial<Record<SiteName, Site>>,
) {
  const number = layer === null ? null : (sites[site]?.numbers[layer] ?? layer);
  const name =
    number !== null && head !== null
      ? headName(number, head)
      : [
          number === null ? say("every_layer") : `L${number}`,
          head === null ? say("every_head") : `H${head}`,
        ].join(" ");
  return `${say(`site_${site}`)} ${name}`;
}

/** Remove a head or, where it is removed, put it back. */
export function toggleHead(lines: readonly string[], { site, layer, head }: Head): Change {
  const pressed = (at: number, own: number) => at === layer && own === head;
  const how = (at: number, own: number) => {
    const now = site.removed(at, own);
    return pressed(at, own) ? (now ? null : "zero") : now;
  };
  const before = lines.filter((line) => removesIn(site, line));
  const after = site.numbers.flatMap((_, at) => removalLines(site, at, how));
  return {
    add: after.filter((line) => !before.includes(line)),
    remove: before.filter((line) => !after.includes(line)),
  };
}

/** Whether a line removes heads of a layer on screen. */
function removesIn(site: Site, line: string) {
  const one = readIntervention(line);
  if (one?.verb !== "ablate" && one?.verb !== "keep") return false;
  return one.site === site.name && Number(one.layer) < site.layers;
}

/** The lines that remove heads of a layer: a single one where all are removed in the same way. */
function removalLines(
  site: Site,
  layer: number,
  how: (layer: number, head: number) => Replacement | null,
) {
  const removed = Array.from({ length: site.heads }, (_, head) => how(layer, head));
  const line = (head: number | "*", one: Replacement | null) =>
    one ? [`ablate ${site.name}.${layer}.${head}${one === "mean" ? " mean" : ""}`] : [];
  const alike = site.heads > 1 && removed.every((one) => one === removed[0]);
  return alike ? line("*", removed[0]) : removed.flatMap((one, head) => line(head, one));
}

/** The key of the sentence that says why a cell cannot be changed. */
export type Refusal = "edit_last_cell" | "edit_masked";

/** Mask a cell, unmask it, or undo that. */
export function toggleCell(
  lines: readonly string[],
  place: Head,
  { query, key }: Cell,
): Change | Refusal {
  const { site, layer, head } = place;
  const code = site.masked(layer, head)[query * site.keys + key];
  const verb = code === UNMASKED ? "close" : "open";
  const undone = lines.filter((line) => {
    const one = readIntervention(line);
    return (
      (one?.verb === "close" || one?.verb === "open") &&
      one.verb !== verb &&
      isOf(one, place) &&
      one.query === query &&
      one.key === key
    );
  });
  if (verb === "close" && openCells(place, query).length < 2) return "edit_last_cell";
  if (undone.length) return { add: [], remove: undone };
  if (code === EDITED) return "edit_masked"; // by what is no line of a cell
  const name = `${site.name}.${layer}.${head}`;
  return { add: [`${verb} ${name} ${query} ${key}`], remove: [] };
}

/** Set the weight of a cell; the others of its row share what is left, as they did before. */
export function setWeight(
  lines: readonly string[],
  place: Head,
  { query, key }: Cell,
  weight: number,
): Change | Refusal {
  const { site, layer, head } = place;
  const open = openCells(place, query);
  if (!open.includes(key)) return "edit_masked";
  if (open.length < 2) return "edit_last_cell";
  const codes = site.weights(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
  const others = open.filter((one) => one !== key);
  const total = others.reduce((sum, one) => sum + codes[one], 0);
  const share = (one: number) => (total ? codes[one] / total : 1 / others.length);
  const weights: number[] = Array(site.keys).fill(0);
  weights[key] = rounded(weight);
  for (const one of others) weights[one] = rounded((1 - weight) * share(one));
  const line = `row ${site.name}.${layer}.${head} ${query} ${weights.join(",")}`;
  const remove = lines.filter((other) => {
    const one = readIntervention(other);
    return one?.verb === "row" && isOf(one, place) && one.query === query;
  });
  return { add: [line], remove };
}

function isOf({ site, layer, head }: Heads, place: Head) {
  const own = (part: number | null, number: number) => part === null || part === number;
  return site === place.site.name && own(layer, place.layer) && own(head, place.head);
}

/** The keys that a query may attend to. */
function openCells({ site, layer, head }: Head, query: number) {
  const codes = site.masked(layer, head).subarray(query * site.keys, (query + 1) * site.keys);
  return [...codes.keys()].filter((key) => codes[key] === UNMASKED);
}

function rounded(weight: number) {
  return Number(weight.toFixed(DIGITS));
}
