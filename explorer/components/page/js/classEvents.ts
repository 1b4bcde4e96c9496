import type { TraceState } from "../../trace/js/initialState.ts";
import type { MIRRORED_STATE, Selection } from "../../trace/js/look.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import { channel } from "./channel.ts";

/**
 * Events of the document by which the player, the card of a lesson and the host's class tools, each in
 * a shadow root of its own, know of each other.
 */

export type Place = Pick<TraceState, Exclude<(typeof MIRRORED_STATE)[number], "guess">>;

/** What a guest's picture follows. */
export type ShownState = Place & {
  guess: { weightsToo: boolean; rows: number; tokens: number } | null;
};

/** What draws the trace: the player, or the grid of all heads. */
export type ShownPicture = "player" | "heads";

/** What is guessed of a trace: the next token, or where a head looks. */
export type Kind = "token" | "key";

export interface Question {
  kind: Kind | "card";
  head: string; // the one whose key is guessed; "" for another kind
  tokens: string[]; // the last of those that are known
  candidates: string[]; // in an order that tells nothing
  positions: number[]; // of the keys, from 0; none for another kind
  prompt: string; // what a card asks; "" for another kind
  answer: number | null; // index of the right one, or none's; null while it is hidden
}

export interface Described {
  /** what the trace is of; null where no other visitor can ask for it */
  visit: Record<string, string> | null;
  trace: string; // by which the server knows the trace; "" where it does not
  picture: ShownPicture;
  selection: Selection;
  shown: ShownState;
  question: Question | null; // null while nothing is guessed
  training?: ShownTraining; // in the place of a trace
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

/** The player: what it shows, after each change; null when it goes. */
export const { tell: tellShown, hear: onShown } = channel<Described | null>("explorer-shown");

/** A lesson: the card on screen, after each change; null = no lesson is open. */
export const { tell: tellCard, hear: onCard } = channel<ShownCard | null>("explorer-card");

/** To both: say what is shown. */
export const { tell: askShown, hear: onAskShown } = channel("explorer-asked");

/** To the player: show what is hidden. */
export const { tell: reveal, hear: onReveal } = channel("explorer-revealed");

/** To a lesson: show the answer of the card. */
export const { tell: revealCard, hear: onRevealCard } = channel("explorer-card-revealed");

/** To the player: what the host lets the class guess. */
export const { tell: letGuess, hear: onLetGuess } = channel<Kind>("explorer-asks");
