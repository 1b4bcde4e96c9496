/**
 * What is on screen as the parameters of the address, `model=reverse&text=7+3+9…`, which are those of
 * the app's own links. An address is untrusted text: what fails a check is left out.
 */

import { wrongDrawing } from "../../trace/js/drawing.ts";
import { changed, NO_CHANGE } from "../../trace/js/interventions.ts";
import {
  FIELDS,
  type Field,
  LONGEST_TEXT,
  MOST_FORCED,
  MOST_INTERVENTIONS,
  MOST_PADDING,
  type Selection,
} from "../../trace/js/look.ts";
import { readWord, wholeNumber, wordsOf } from "../../trace/js/lookAddress.ts";
import { readIntervention } from "../../trace/js/verbs.ts";
import type { InitialView } from "./initialView.ts";
import { initialRequest, unchanged } from "./liveModel.ts";
import type { LiveRequest, Reading } from "./modelWorker.ts";
import type { PageData } from "./pageData.ts";

/** refused: names of parameters that were left out; of a wrong drawing its line, of a model to fetch its name */
export type Visit = {
  request: LiveRequest;
  view: InitialView;
  language: string | null;
  refused: string[];
};

/** What is shown on Explore, which compares no two models. */
const SHOWN: Field[] = FIELDS.filter(({ state }) => state);

/** What a page without a server can show. */
const SHOWN_ALONE: Field[] = SHOWN.filter(({ needsServer }) => !needsServer);

/** The parameters that a page without a server reads, except the language. */
export const READ = ["model", "text", "pad", "force", "do", ...SHOWN_ALONE.map(({ name }) => name)];

type ReadData = Pick<PageData, "models" | "languages" | "server" | "fetches">;

type Take = <Value>(name: string, read: (text: string) => Value | null) => Value | null;

/**
 * @param parameters without "#" or "?"
 * @param data whose first model is opened where none is named; with a server more is read
 */
export function readAddress(
  parameters: string,
  { models, languages, server, fetches }: ReadData,
): Visit {
  const query = new URLSearchParams(parameters);
  const refused: string[] = [];
  const take: Take = (name, read) => {
    const text = query.get(name);
    if (text === null) return null;
    const value = read(text);
    const unfetched = name === "model" && fetches?.some((one) => one.name === text);
    const wrong = name === "do" && wrongDrawing(text.split(";"));
    if (value === null) refused.push(unfetched ? `unfetched ${text}` : wrong || name);
    return value;
  };
  const named = take("model", (name) => models.find((model) => model.name === name) ?? null);
  const model = named ?? models[0];
  const same = !refused.length; // another model has other tokens and heads
  const initial = initialRequest(model);
  const text = take("text", textIn);
  const request = {
    model: model.name,
    text: text ?? initial.text,
    pad: take("pad", (given) => wholeNumber(given, MOST_PADDING)) ?? initial.pad,
    forced: (same ? take("force", forcedIn) : null) ?? [],
    interventions: (same ? take("do", (given) => interventionsIn(given, !server)) : null) ?? [],
    ...(server ? readIn(take, initial) : { pair: null, reading: null }),
  };
  const view = same ? viewIn(take, server ? SHOWN : SHOWN_ALONE) : {};
  const language = take("lang", (given) => (Object.hasOwn(languages, given) ? given : null));
  return { request, view, language, refused };
}

function textIn(given: string) {
  return given.length <= LONGEST_TEXT ? given : null;
}

/** Of a model: its second text, and how it reads; what it does not read is refused. */
function readIn(take: Take, { pair, reading }: LiveRequest): Pick<LiveRequest, "pair" | "reading"> {
  const second = take("pair", (given) => (pair === null ? null : textIn(given)));
  const codeIn = (given: string) => (reading && /^\w{1,24}$/.test(given) ? given : null);
  const asked: Partial<Reading> = {};
  for (const name of ["source_language", "target_language"] as const) {
    const code = take(name, codeIn);
    if (code) asked[name] = code;
  }
  if (take("chat", (given) => (reading && given === "1") || null)) asked.chat = true;
  return { pair: second ?? pair, reading: reading && { ...reading, ...asked } };
}

function viewIn(take: Take, fields: Field[]): InitialView {
  const view: Partial<Record<string, unknown>> = {};
  for (const field of fields) {
    const value = take(field.name, (word) => readWord(field, word));
    if (value !== null) view[field.name] = value;
  }
  const mean = "layer" in view && !("head" in view); // not the head that the model opens with
  return mean ? { ...view, head: null } : view;
}

/** The parameters that `readAddress` reads back. */
export function writeAddress(
  { model, text, pad, forced, interventions, pair, reading }: LiveRequest,
  selection: InitialView | Partial<Selection>,
  language: string,
) {
  const query = new URLSearchParams({ model, text, pad: String(pad) });
  if (forced.length) query.set("force", forced.map((one) => one.join(".")).join("_"));
  if (interventions.length) query.set("do", interventions.join(";"));
  if (pair) query.set("pair", pair);
  for (const name of ["source_language", "target_language"] as const) {
    if (reading?.[name]) query.set(name, reading[name]);
  }
  if (reading?.chat) query.set("chat", "1");
  for (const [name, word] of Object.entries(wordsOf(selection))) query.set(name, word);
  query.set("lang", language);
  return `${query}`;
}

/** (step, id) of forced tokens in the order of their steps, no step twice. */
function forcedIn(text: string): [number, number][] | null {
  const parts = text.split("_").map((part) => /^(\d{1,4})\.(\d{1,7})$/.exec(part));
  const pairs = new Map(parts.map((part) => [Number(part?.[1]), Number(part?.[2])]));
  const each = pairs.size === parts.length && parts.every((part) => part && Number(part[1]) >= 1);
  if (!each || parts.length > MOST_FORCED) return null;
  return [...pairs].sort(([one], [other]) => one - other);
}

/** @param alone without a server; a browser has no mean outputs of heads */
function interventionsIn(text: string, alone: boolean): string[] | null {
  const lines = text.split(";");
  const known = lines.map(readIntervention);
  const able = known.every((one) => one && !(alone && one.verb === "ablate" && one.how === "mean"));
  return able && lines.length <= MOST_INTERVENTIONS ? changed(lines, NO_CHANGE) : null;
}

/** Whether two requests have the same model read the same tokens. */
export function sameSource(one: LiveRequest, other: LiveRequest) {
  return sameRequest(unchanged(one), unchanged(other));
}

/** Whether two requests are of the same trace. */
export function sameRequest(one: LiveRequest, other: LiveRequest) {
  return writeAddress(one, {}, "") === writeAddress(other, {}, "");
}
