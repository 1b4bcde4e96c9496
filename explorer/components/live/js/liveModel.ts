import { onAnyText } from "../../trace/js/interventions.ts";
import { LONGEST_TEXT } from "../../trace/js/look.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { LiveRequest } from "./modelWorker.ts";

/**
 * What the page knows of a model before its file is there; `explorer/components/live/page.py` writes
 * it.
 */

export interface LiveModel {
  name: string;
  bytes: number; // of its file
  scriptBytes: number; // of the script that has it as a text
  sha256: string; // of its file
  data?: Uint8Array<ArrayBuffer>; // of a model that has no file beside the page
  words: string | null; // of a trace without its model, which reads no text; null of a model
  label: Record<string, string>; // by language, its line in the list
  intro: Record<string, string>; // what the model does, and how to begin
  about?: Record<string, string>; // what is said where there is nothing else to say
  scored?: Record<string, string>; // which data its score was measured on, and all of its credit
  placeholder: Record<string, string>; // by language, what may be typed
  examples: { text: string; hint: Record<string, string> }[]; // the first is opened
  library: boolean; // whether it is a model of the library, and not one of our own
  kind: "symbols" | "sentence" | "prompt" | "masked" | "ids" | ""; // of text that it reads
  mask: string; // its mask token, if it fills in masks
  pairs: boolean; // whether it reads a second text
  draws: boolean; // whether random texts can be drawn
  symbols: string[]; // what it reads; empty where it reads sentences
  alone: boolean; // whether it has no encoder, and continues a text
  longest: number; // tokens of a text of its training, its end not counted
  usual: number; // the mean of them; 0 where not known
  sourceWords: string[]; // the frequent ones of a model of sentences; none where not known
  targetWords: string[];
  sentences: string[]; // to draw random texts from
  opening: { site: SiteName; layer: number; head: number } | null; // the head to open with
}

const SHORTEST_RANDOM = 5;
const LONGEST_RANDOM = 9;
const MOST_DRAWS = 100;

/** What a model opens with. */
export function initialRequest({ name, examples, pairs, library }: LiveModel): LiveRequest {
  const text = examples[0]?.text ?? "";
  const pair = pairs ? "" : null;
  const reading = library ? { source_language: "", target_language: "", chat: false } : null;
  return { model: name, text, pad: 0, forced: [], interventions: [], pair, reading };
}

/** The same text, decoded greedily by the model as it is. */
export function unchanged(request: LiveRequest): LiveRequest {
  return { ...request, forced: [], interventions: [] };
}

/** Whether the output may differ from that of `unchanged`. */
export function isChanged({ forced, interventions }: LiveRequest) {
  return forced.length + interventions.length > 0;
}

/** Another text, decoded greedily; interventions that mean something on any text stay. */
export function requestOfText(request: LiveRequest, text: string): LiveRequest {
  return { ...request, text, forced: [], interventions: onAnyText(request.interventions) };
}

/**
 * What a model opens with that is chosen after another one: the person's own text, where it can read
 * that, else its first example; the second text where it reads one.
 * @param asked what is in the text boxes; an example of `before` is not the person's own
 */
export function requestAfter(
  model: LiveModel,
  before: LiveModel,
  asked: Pick<LiveRequest, "text" | "pair">,
): LiveRequest {
  const initial = initialRequest(model);
  const pair = initial.pair === null ? null : (asked.pair ?? "");
  return { ...initial, pair, text: keeps(model, before, asked.text) ? asked.text : initial.text };
}

/** Whether a text of the model `before` stays. */
function keeps(model: LiveModel, before: LiveModel, text: string) {
  if (model.words !== null) return true; // comes back with the next model
  if (before.examples.some((example) => example.text === text) || !reads(model, text)) return false;
  if (before.mask && before.mask !== model.mask && text.includes(before.mask)) return false;
  const alike = Boolean(before.symbols.length) === Boolean(model.symbols.length);
  return alike || !reads(before, text); // symbols are no sentence
}

/**
 * Whether a text means something to a model: all its symbols are known or, for a model of sentences,
 * it has a word, in a script of the examples. A model of the library is told no script.
 */
export function reads({ symbols, examples, words, library, kind, mask }: LiveModel, text: string) {
  const given = text.split(/\s+/).filter(Boolean);
  if (words !== null) return false;
  if (kind === "ids") return given.length > 0 && given.every((one) => /^\d+$/.test(one));
  if (kind === "masked") return text.includes(mask) && text.length <= LONGEST_TEXT;
  if (symbols.length) return given.length > 0 && given.every((one) => symbols.includes(one));
  const own = library || examples.some((example) => isChinese(example.text) === isChinese(text));
  return own && /\p{L}{2}/u.test(text);
}

export function isChinese(text: string) {
  return /[\u4e00-\u9fff]/u.test(text);
}

/** Another text than `shown`, where the model has another. */
export function randomText(model: LiveModel, shown: string) {
  for (let draws = 0; draws < MOST_DRAWS; draws++) {
    const drawn = drawText(model);
    if (drawn !== shown) return drawn;
  }
  return shown;
}

/** A decoder alone gets different symbols and the first one again, which it can continue. */
function drawText({ alone, symbols, longest, sentences, examples }: LiveModel) {
  if (!symbols.length) {
    const texts = sentences.length ? sentences : examples.map(({ text }) => text);
    return texts[below(texts.length)];
  }
  const span = LONGEST_RANDOM - SHORTEST_RANDOM + 1;
  const length = Math.min(SHORTEST_RANDOM + below(span), longest);
  if (!alone) return Array.from({ length }, () => symbols[below(symbols.length)]).join(" ");
  const block = shuffled(symbols).slice(0, Math.max(1, length - 1));
  return [...block, block[0]].join(" ");
}

function shuffled<Value>(values: readonly Value[]) {
  const left = [...values];
  return values.map(() => left.splice(below(left.length), 1)[0]);
}

/** A whole number from 0, less than `count`. */
function below(count: number) {
  return Math.floor(Math.random() * count);
}
