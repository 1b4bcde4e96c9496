/** Interventions as lines of text, read and written by the table of `explorer/core/verbs.py`. */

import { ONCE, TYPED, VERBS } from "./look.ts";

export type Verb = keyof typeof VERBS;

/** How a line writes a field; see `Argument` in Python. */
interface Argument {
  kind: "site" | "place" | "index" | "choice" | "whole" | "number" | "numbers";
  choices?: readonly string[];
  least?: number;
  most?: number;
  above?: true;
  every?: true;
  mark?: string;
  default?: string;
}

type Value<Asked> = Asked extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Asked extends { kind: "numbers" }
    ? number[]
    : number | (Asked extends { every: true } ? null : never);

type Marked<Asked, Name extends keyof Asked> = Asked[Name] extends { mark: string } ? Name : never;

type Fields<Asked> = {
  -readonly [Name in keyof Asked as Exclude<Name, Marked<Asked, Name>>]: Value<Asked[Name]>;
} & { -readonly [Name in keyof Asked as Marked<Asked, Name>]?: Value<Asked[Name]> };

/** The interventions of some verbs; null as layer or head stands for all of them. */
export type Of<Name extends Verb> = {
  [One in Name]: { verb: One } & Fields<(typeof VERBS)[One]>;
}[Name];

export type Intervention = Of<Verb>;

type Values = Record<string, string | number | number[] | null | undefined>;

const WHOLE = /^-?\d{1,9}$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** What is asked of a verb, in the order of its words. */
function argumentsOf(verb: Verb): [string, Argument][] {
  return Object.entries(VERBS[verb]);
}

/** An intervention from its line; null where it cannot be read. */
export function readIntervention(line: string): Intervention | null {
  const [word = "", ...words] = line.match(/(?:\S|\ufeff)+/g) ?? []; // as Python cuts it
  const verb = verbOf(word);
  if (!verb) return null;
  if ("site" in VERBS[verb]) {
    const place = words.shift()?.split(".");
    if (place?.length !== 3) return null;
    words.unshift(...place);
  }
  const one: Values = { verb };
  for (const [name, argument] of argumentsOf(verb)) {
    const { kind, mark = "", default: usual } = argument;
    if (kind === "numbers") words.splice(0, words.length, words.join(" "));
    if (words[0]?.startsWith(mark)) {
      one[name] = read(argument, words.shift()?.slice(mark.length) ?? "");
      if (one[name] === undefined) return null;
    } else if (usual) one[name] = usual;
    else if (!mark) return null;
  }
  return words.length ? null : (one as Intervention);
}

/** The verb that a word is, in a link or on the command line. */
function verbOf(word: string) {
  const known = new Map(Object.entries(TYPED));
  return Object.hasOwn(VERBS, word) ? (word as Verb) : known.get(word);
}

/** The value of a word; undefined where it is not allowed. */
function read({ kind, choices, every, ...range }: Argument, word: string) {
  if (choices) return choices.find((choice) => choice === word);
  if (every && word === "*") return null;
  const { above, least = Number.NEGATIVE_INFINITY, most = Number.MAX_VALUE } = range;
  const pattern = kind.startsWith("number") ? DECIMAL : WHOLE;
  const words = kind === "numbers" ? word.split(/[ ,]+/).filter(Boolean) : [word];
  const numbers = words.map((one) => (pattern.test(one) ? Number(one) || 0 : Number.NaN));
  const within = (one: number) => (above ? one > least : one >= least) && one <= most;
  if (!numbers.every(within)) return undefined;
  if (kind === "numbers") return numbers.some(Boolean) ? numbers : undefined;
  return numbers[0];
}

/** The line that `readIntervention` reads. */
export function lineOf(one: Intervention) {
  const words = argumentsOf(one.verb).flatMap(([name, { mark = "", default: usual }]) => {
    const value = (one as Values)[name];
    return value === undefined || value === usual ? [] : [`${mark}${value ?? "*"}`];
  });
  if ("site" in one) words.unshift(words.splice(0, 3).join("."));
  return [one.verb, ...words].join(" ");
}

/**
 * The key of the sentence of an intervention, its facts without those of heads, and the names and
 * numbers of the optional words that follow, one more sentence each; positions from 1.
 */
export function chipOf(one: Intervention) {
  let key = `chip_${one.verb}`;
  const facts: Record<string, string | number> = {};
  const more: [string, string][] = [];
  for (const [name, { kind, mark }] of argumentsOf(one.verb)) {
    const value = (one as Values)[name];
    if (kind === "choice") key += `_${value}`;
    else if (kind === "index") facts[name] = Number(value) + 1;
    else if (mark && value !== undefined) more.push([name, String(value)]);
    else if (!mark && (kind === "whole" || kind === "number")) facts[name] = String(value);
  }
  return { key, facts, more };
}

/** The ends of the ranges of a verb's numbers, as its sentences name them: "seed_most". */
export function rangesOf(verb: Verb) {
  const facts: Record<string, number | undefined> = {};
  for (const [name, { least, most }] of argumentsOf(verb))
    Object.assign(facts, { [`${name}_least`]: least, [`${name}_most`]: most });
  return facts;
}

/** Whether of two interventions only the later one counts. */
export function replaces(one: Intervention, other: Intervention) {
  const once = new Map<string, readonly string[]>(Object.entries(ONCE)).get(one.verb);
  const same = (name: string) => (one as Values)[name] === (other as Values)[name];
  return one.verb === other.verb && once !== undefined && once.every(same);
}
