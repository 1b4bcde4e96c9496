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
import { initialRequest, type LiveModel, unchanged } from "./liveModel.ts";
import type { LiveRequest } from "./modelWorker.ts";

/** refused: names of parameters that were left out; of a wrong drawing its line */
export type Visit = {
  request: LiveRequest;
  view: InitialView;
  language: string | null;
  refused: string[];
};

/** What the page can show, which has no server and compares no two models. */
const SHOWN: Field[] = FIELDS.filter(({ state, needsServer }) => state && !needsServer);

/** The parameters that are read, except the language. */
export const READ = ["model", "text", "pad", "force", "do", ...SHOWN.map(({ name }) => name)];

/**
 * @param parameters without "#" or "?"
 * @param models the first is opened where none is named
 */
export function readAddress(parameters: string, models: LiveModel[], languages: string[]): Visit {
  const query = new URLSearchParams(parameters);
  const refused: string[] = [];
  const take: <Value>(name: string, read: (text: string) => Value | null) => Value | null = (
    name,
    read,
  ) => {
    const text = query.get(name);
    if (text === null) return null;
    const value = read(text);
    if (value === null) refused.push((name === "do" && wrongDrawing(text.split(";"))) || name);
    return value;
  };
  const named = take("model", (name) => models.find((model) => model.name === name) ?? null);
  const model = named ?? models[0];
  const same = !refused.length; // another model has other tokens and heads
  const initial = initialRequest(model);
  const text = take("text", (given) => (given.length <= LONGEST_TEXT ? given : null));
  const request = {
    model: model.name,
    text: text ?? initial.text,
    pad: take("pad", (given) => wholeNumber(given, MOST_PADDING)) ?? initial.pad,
    forced: (same ? take("force", forcedIn) : null) ?? [],
    interventions: (same ? take("do", interventionsIn) : null) ?? [],
  };
  const view = same ? viewIn(take) : {};
  const language = take("lang", (given) => (languages.includes(given) ? given : null));
  return { request, view, language, refused };
}

function viewIn(
  take: <Value>(name: string, read: (text: string) => Value | null) => Value | null,
): InitialView {
  const view: Partial<Record<string, unknown>> = {};
  for (const field of SHOWN) {
    const value = take(field.name, (word) => readWord(field, word));
    if (value !== null) view[field.name] = value;
  }
  const mean = "layer" in view && !("head" in view); // not the head that the model opens with
  return mean ? { ...view, head: null } : view;
}

/** The parameters that `readAddress` reads back. */
export function writeAddress(
  { model, text, pad, forced, interventions }: LiveRequest,
  selection: InitialView | Partial<Selection>,
  language: string,
) {
  const query = new URLSearchParams({ model, text, pad: String(pad) });
  if (forced.length) query.set("force", forced.map((one) => one.join(".")).join("_"));
  if (interventions.length) query.set("do", interventions.join(";"));
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

/** Lines of interventions that a browser can carry out; it has no mean outputs of heads. */
function interventionsIn(text: string): string[] | null {
  const lines = text.split(";");
  const known = lines.map(readIntervention);
  const able = known.every((one) => one && !(one.verb === "ablate" && one.how === "mean"));
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
