import { type Attributes, assign, element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { onPage, setOnPage } from "../../page/js/onPage.ts";
import { KNOWN_SPECIALS } from "./look.ts";

export const PADDING = "term_padding"; // the technical word
const SPECIALS: Set<string> = new Set(KNOWN_SPECIALS);
const UNKNOWN = ["<unk>", "[UNK]"]; // stand for text
/** By special token, the technical word for it. */
const TERMS = byToken({
  [PADDING]: ["<pad>", "[PAD]"],
  term_bos: ["<bos>", "<s>"],
  term_eos: ["<eos>", "</s>", "<|endoftext|>"],
});
/** By special token of a model trained here, the technical word that Simple replaces. */
const RENAMED = new Map([
  ["<bos>", "term_bos"],
  ["<eos>", "term_eos"],
]);
/** By another special token, the name of the sentence that says what it is. */
const MEANINGS = byToken({
  token_class: ["[CLS]"],
  token_separator: ["[SEP]"],
  token_mask: ["<mask>", "[MASK]"],
  token_unknown: UNKNOWN,
});
const BRACKETED = /^(?:<(bos|eos|pad|unk|mask)>|\[(PAD|CLS|SEP|MASK|UNK)\]|<\|(endoftext)\|>)$/;
export const BYTE = /^<0x([0-9A-F]{2})>$/;
const BYTES_IN_WORD = /<0x([0-9A-F]{2})>/g;
export const WORD_START = "▁";
const LONGEST_LABEL = 40;
const EMOJI = /^\p{Extended_Pictographic}/u;
/** Invisible characters, or an emoji with the invisible ones that join or colour it. */
const INVISIBLE =
  /\p{Extended_Pictographic}(?:\ufe0f|\p{EMod}|\u200d(?=\p{Extended_Pictographic}))+|(?! )[\p{Cc}\p{Cf}\p{Z}\p{DI}]/gu;

/** Name the special tokens in the language of the page; where it lacks the names, nothing changes. */
export function nameSpecials(say: Say) {
  const [start, end] = [say("name_bos"), say("name_eos")];
  if (start === "name_bos" || start === onPage.specials.term_bos) return; // as in an older file
  setOnPage({ specials: { term_bos: start, term_eos: end } });
}

/** What a technical word is called in Simple, as in every lesson; undefined where it keeps its name. */
export function simpleName(term: string | undefined) {
  const simple = !onPage.everything || onPage.lesson !== null;
  return simple && term ? onPage.specials[term] : undefined;
}

/** The label of a token, in Simple `start` and `end` for bos and eos. */
export function labelOf(token: string) {
  return simpleName(RENAMED.get(token)) ?? technicalLabel(token);
}

/** A token as a person may type it, in lower case: `end`, `eos` and `<eos>` are one. */
export function spellings(token: string) {
  const names = [technicalLabel(token), onPage.specials[RENAMED.get(token) ?? ""] ?? ""];
  return names.map((name) => name.trim().toLocaleLowerCase()).filter(Boolean);
}

/** Specials without brackets, bytes in hexadecimal, invisible characters as code points. */
function technicalLabel(token: string) {
  const special = BRACKETED.exec(token)?.slice(1).find(Boolean);
  if (special) return special;
  const byte = BYTE.exec(token);
  if (byte) return `‹${byte[1]}›`;
  const bare = markOf(token) ? token.slice(1) : token === WORD_START ? "" : token;
  const text = bare.replace(BYTES_IN_WORD, "‹$1›");
  const letters = Array.from(text.slice(0, 4 * LONGEST_LABEL));
  const short =
    letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL).join("")}…` : text;
  return /^ *$/.test(short) ? "␣" : short.replace(INVISIBLE, codePoint);
}

/** The mark of a piece that begins a word, which is shown but not part of sentences; else "". */
export function markOf(token: string) {
  return token.length > 1 && token.startsWith(WORD_START) ? WORD_START : "";
}

/** An invisible character as an escape; an emoji as it is. */
function codePoint(letter: string) {
  return EMOJI.test(letter)
    ? letter
    : `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
}

/** Whether a token is one of the vocabulary's special tokens rather than text. */
export function isSpecial(token: string) {
  return SPECIALS.has(token);
}

/** The name of the sentence that says what a special token is; undefined for text. */
export function meaningOf(token: string) {
  const term = termOf(token);
  return term ? `${term}_title` : MEANINGS.get(token);
}

/** The technical word for a special token; undefined where there is none. */
export function termOf(token: string) {
  return TERMS.get(token);
}

/**
 * The technical word for a special token at its first place among tokens; null elsewhere, and where
 * a model begins its output with padding.
 */
export function firstTerm(tokens: string[], position: number) {
  const token = tokens[position] ?? "";
  const term = termOf(token) ?? null;
  const begins = term === PADDING && position === 0;
  return tokens.indexOf(token) === position && !begins ? term : null;
}

/** @param tokens by name */
function byToken(tokens: Record<string, string[]>) {
  return new Map(
    Object.entries(tokens).flatMap(([name, list]) => list.map((token) => [token, name])),
  );
}

/** The token in each node, and its name: a step visits many nodes and changes few. */
const written: WeakMap<Node, { token: string; name: string | undefined }> = new WeakMap();

/** The token that a node shows; undefined where it shows none. */
export function tokenIn(node: Node) {
  return written.get(node)?.token;
}

/**
 * Write a token into a node; where the label differs from the token, the token is the title.
 * @param before text in front of it
 */
export function writeToken(node: HTMLElement, token: string, before = "") {
  const name = simpleName(RENAMED.get(token));
  const known = written.get(node);
  if (known?.token === token && known.name === name) return;
  written.set(node, { token, name });
  const mark = markOf(token);
  const start = mark ? [element("span", { class: "word-start", "aria-hidden": "true" }, mark)] : [];
  const label = [...start, labelOf(token)];
  node.replaceChildren(...(before ? [before, element("bdi", {}, ...label)] : label));
  node.classList.toggle("special", isSpecial(token) || UNKNOWN.includes(token));
  node.classList.toggle("byte", BYTE.test(token));
  assign(node, "title", token === labelOf(token) ? null : token.slice(0, 1000));
}

/** An isolated token element. */
export function tokenElement(token: string, attributes: Attributes = {}) {
  const node = element("bdi", attributes);
  node.classList.add("token");
  writeToken(node, token);
  return node;
}
