/** What the card of a lesson and the picture, which are components of a page, know of each other. */

import type { Card } from "../../lesson/js/content.ts";
import type { ViewOptions } from "../../trace/js/trace.ts";
import type { ShownCard } from "./pictureOnPage.ts";

export type Look = Pick<
  ViewOptions,
  "site" | "layer" | "head" | "step" | "alignment" | "guess" | "ahead" | "cell" | "inside"
>;

/** What a card shows of a training. */
export interface TrainingLook extends Pick<Look, "site" | "layer" | "head" | "step"> {
  run: string; // root and name
  moment: number; // its step of the training
}

/** The answer of a card that asks what the model writes next, as in `lesson_answers.py`. */
export const NEXT_TOKEN = "predicted token";

/** In the place of a number that a card asks. */
export const ASKED = "?";

/** A question about the text on screen that nobody has answered yet. */
export interface OpenQuestion {
  answer: string; // what of the trace it asks, as in `lesson_answers.py`
  site: string | null; // null = the one on screen
  layer: number;
  head: number;
  query: number;
  key: number | null; // null = the one with the largest weight in the row
}

/** What a lesson asks. */
export interface LessonQuestions {
  answer: string; // what of the trace its card asks and nobody has answered yet; "" for nothing
  answered: boolean; // whether the card was answered
  open: OpenQuestion[]; // of this card and of later ones: their numbers are "?"
}

export const NOTHING: LessonQuestions = { answer: "", answered: false, open: [] };

/** A lesson that is open; who reads of it depends on it, as on a store. */
export interface LessonOnPage {
  card: () => Card | null; // on screen; null at the end
  parameters: () => string; // that name it in the address
  look: () => Look | TrainingLook | null; // for the picture; another object each time it is to show it
  asked: () => LessonQuestions; // until it is answered, no sentence reads the picture
  told: () => ShownCard | null; // the card as the guests of a class read it
  reveal: () => void; // show the answer of the card
}
