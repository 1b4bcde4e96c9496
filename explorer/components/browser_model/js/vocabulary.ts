/**
 * Text ↔ token ids, as `explorer/core/vocabulary.py` does it. Every vocabulary has the same first
 * three ids: padding, beginning and end of a sequence.
 */

import { LONGEST_SYMBOL, LONGEST_TEXT, SPECIALS } from "../../trace/js/look.ts";
import { ModelError } from "./modelError.ts";

export const PAD = 0;
export const BOS = 1;
export const EOS = 2;

const SHOWN = 24;
const LONGEST_SUGGESTION = 80;
const SEPARATORS = /[,;、，；]/gu; // between symbols, besides white space by mistake

/** What Python's `str.split` takes for white space; `\s` has others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python splits a text at these
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** What Python's `str.isprintable` is false for, white space but " " included. */
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

/** Symbols separated by white space; the id of a symbol is its index in `symbols` plus 3. */
export class SymbolVocabulary {
  symbols: string[];
  tokens: string[];
  ids: Map<string, number>;

  /** @param symbols distinct, without white space */
  constructor(symbols: string[]) {
    for (const symbol of symbols) {
      const [part, ...others] = words(String(symbol));
      const tooLong = [...String(symbol)].length > LONGEST_SYMBOL;
      if (typeof symbol !== "string" || part !== symbol || others.length || tooLong) {
        throw new ModelError("bad_symbol", { symbol: shorten(String(symbol)) });
      }
    }
    this.symbols = symbols;
    this.tokens = [...SPECIALS, ...symbols];
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    if (!symbols.length || this.ids.size !== this.size) throw new ModelError("repeated_symbols");
    for (const special of SPECIALS) this.ids.delete(special);
  }

  /** The vocabulary that a checkpoint describes. */
  static fromJson({ kind, symbols }: Record<string, unknown>) {
    if (kind === "symbols" && Array.isArray(symbols)) return new SymbolVocabulary(symbols);
    throw new ModelError("foreign_vocabulary", { kind: shorten(String(kind)) });
  }

  get size() {
    return this.tokens.length;
  }

  /**
   * Ids of the symbols in `text`, without specials. Throws a `ModelError` on an empty text, one
   * that is too long, or an unknown symbol.
   */
  encode(text: string) {
    refuseLongText(text);
    const symbols = words(text);
    if (!symbols.length) throw new ModelError("empty_text", { known: this.known() });
    return symbols.map((symbol) => this.ids.get(symbol) ?? this.refuse(symbol, text));
  }

  /** The text of `ids`, specials dropped. */
  decode(ids: readonly number[]) {
    return this.labels(ids.filter((id) => id >= SPECIALS.length)).join(" ");
  }

  /** The label of each id. */
  labels(ids: readonly number[]) {
    return ids.map((id) => this.tokens[id]);
  }

  /** The first symbols, for a message. */
  known() {
    const more = this.symbols.length > SHOWN ? " …" : "";
    return this.symbols.slice(0, SHOWN).join(" ") + more;
  }

  /** @param symbol that is unknown */
  refuse(symbol: string, text: string): never {
    this.refuseBeyond(symbol);
    const facts = { symbol: shorten(symbol), known: this.known() };
    const apart = this.spaced(text);
    if (apart) throw new ModelError("symbols_together", { ...facts, suggestion: apart });
    const plain = this.spaced(inPlainForms(text));
    if (plain) throw new ModelError("other_form", { ...facts, suggestion: plain });
    throw new ModelError("unknown_symbol", facts);
  }

  /**
   * Throws a `ModelError` on a number above the last, where the symbols are numbers of more than
   * one digit, such as the ids of an imported model: 99 is not 9 and 9 there.
   */
  refuseBeyond(symbol: string) {
    if (![symbol, ...this.symbols].every((one) => /^[0-9]+$/.test(one))) return;
    const last = this.symbols.map(Number).reduce((one, other) => Math.max(one, other));
    if (last > 9 && Number(symbol) > last) {
      throw new ModelError("number_beyond", { symbol: shorten(symbol), last: String(last) });
    }
  }

  /**
   * `text` with a space between its symbols, where it lacks nothing else, such as "12345" and
   * "1, 2"; else "", and for a long text.
   */
  spaced(text: string) {
    if ([...text].length > LONGEST_SUGGESTION) return "";
    const parts = words(text.replace(SEPARATORS, " ")).map((word) => this.symbolsIn(word));
    return parts.every((part) => part.length) ? parts.flat().join(" ") : "";
  }

  /** The fewest symbols that make up `word`; empty where none do. */
  symbolsIn(word: string) {
    const letters = [...word];
    /** By the characters covered. */
    const fewest: (string[] | null)[] = [[], ...letters.map(() => null)];
    for (let start = 0; start < letters.length; start++) {
      const before = fewest[start];
      const last = Math.min(start + LONGEST_SYMBOL, letters.length);
      for (let end = start + 1; before && end <= last; end++) {
        const symbol = letters.slice(start, end).join("");
        const best = fewest[end];
        if (this.ids.has(symbol) && (!best || before.length + 1 < best.length)) {
          fewest[end] = [...before, symbol];
        }
      }
    }
    return fewest[letters.length] ?? [];
  }
}

/** `text` split at each run of white space. */
export function words(text: string) {
  return text.split(SPACES).filter((word) => word);
}

/** Throws a `ModelError` on a text that is too long to be split. */
export function refuseLongText(text: string) {
  if (text.length <= LONGEST_TEXT) return;
  const characters = [...text].length;
  if (characters > LONGEST_TEXT) {
    throw new ModelError("text_too_long", { characters, limit: LONGEST_TEXT });
  }
}

/**
 * `text` with small letters, and with the digits and letters of a keyboard in place of full-width
 * ones and of other scripts' digits.
 */
function inPlainForms(text: string) {
  const plain = text.normalize("NFKC").toLowerCase();
  return plain.replace(/\p{Nd}/gu, (digit) => String(decimalValue(digit)));
}

/** The value of a digit of any script: Unicode has them in runs from 0 to 9. */
function decimalValue(digit: string) {
  const code = digit.codePointAt(0) as number;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}

/** `text` for a message: cut, control characters escaped. */
function shorten(text: string) {
  const letters = [...text];
  const cut = letters.slice(0, 2 * LONGEST_SYMBOL).join("");
  const shown = cut.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) as number;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return letters.length > 2 * LONGEST_SYMBOL ? `${shown}…` : shown;
}
