import type { Guess } from "../../trace/js/guess.ts";
import type { SiteName } from "../../trace/js/trace.ts";

/** What draws the trace: the player, or the grid of all heads. */
export type ShownPicture = "player" | "heads";

/** What is guessed of a trace: the next token, or where a head looks. */
export type Kind = "token" | "key";

export interface Question {
  kind: Kind | "card" | "picture"; // picture: which one a head becomes
  /** the one whose key is guessed; of a picture "decoder" where it is of one of its own heads */
  head: string;
  tokens: string[]; // the last of those that are known
  candidates: string[]; // in an order that tells nothing
  positions: number[]; // of the keys, from 0; none for another kind
  prompt: string; // what a card asks; "" for another kind
  answer: number | null; // index of the right one, or none's; null while it is hidden
}

/** What guests follow of a picture: the address that opens it, and what of it is hidden. */
export interface ShownView {
  query: Record<string, string>; // without a text where no other visitor can ask for the trace
  guess: Pick<Guess, "weightsToo" | "rows" | "tokens"> | null; // null while nothing is guessed
  trace: string; // by which the server knows the trace; "" where it does not
  picture: ShownPicture;
  training: ShownTraining | null; // in the place of a trace
}

/** What draws a trace or a training; who reads of it depends on it, as on a store. */
export interface PictureOnPage {
  view: () => ShownView | null; // null where guests cannot follow it
  question: () => Question | null; // null while nothing is guessed
  reveal: () => void; // show what is hidden
  letGuess: (kind: Kind) => void; // what the host lets the class guess
  closeCell: () => void; // before the server sends another text
  focus: () => void; // the keyboard's
}

/** What guests follow in a training. */
export interface ShownMoment {
  moment: number | null; // its step; null = the newest, as it comes
  site: SiteName;
  layer: number | null; // null = that of the sharpest head
  head: number | null;
}

/**
 * Names of the run and the compared ones; `revision` grows when the state of the run has changed.
 */
export type ShownTraining = ShownMoment & { run: string; others: string[]; revision: number };

/** A card of a lesson, as guests read it. */
export interface CardText {
  title: string; // of the lesson
  number: number; // of the card, from 1
  cards: number;
  text: string;
  because: string; // what is right, and why; "" before it is answered
}

export interface ShownCard {
  card: CardText;
  question: Question | null; // null where the card asks nothing
}
