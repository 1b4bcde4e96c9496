import type { Strings } from "../../dom/js/sentences.ts";
import { readEnvelope } from "../../page/js/envelope.ts";
import type { Look, TrainingLook } from "../../page/js/lessonOnPage.ts";

export interface Card {
  text: string;
  question: string; // "" where nothing is asked
  choices: string[];
  right: number | null; // index of the right choice
  because: string;
  answer: string; // what of the trace the right choice is; "" where nothing is asked
  highlight: string; // `data-testid` of what the text speaks of, or ""
  look: Look | TrainingLook | null;
  here: boolean; // whether the text that it speaks of is on screen
  problem: string; // why it cannot be shown, or ""
  deed: boolean; // whether something is to be done in the picture, in the place of a question
  done: boolean | null; // whether the picture has it; null where it is of another text, or nothing is to be done
  link: string; // address of another page, relative to the app, or ""
}

export interface Lesson {
  name: string;
  title: string;
  cards: (Card | null)[]; // null where the server has to fill one in first
  card: number; // on screen, from 0
  visit: number; // differs whenever the server chose the card
  following: [string, string] | null; // name and title of the next lesson
  questions: number; // how many cards ask one
  minutes: number | null; // that it takes, where it says so
  aims: string; // for the teacher, or ""
  summary: string; // what a learner can say after it, or ""
}

/** What the payload has. */
export interface Content {
  language: string;
  strings: Strings;
  lesson?: Lesson;
  back?: string; // address to which the end of a page of its own leads, or ""
  offer?: { name: string; title: string };
}

export interface Listeners {
  onCard: (card: number, here: boolean) => void; // here: it is on screen already
  onStart: (name: string) => void;
  onLeave?: () => void; // without it nothing leads out of the lesson
}

export function readContent(bytes: Uint8Array): Content {
  return readEnvelope<Content>(bytes).header;
}
