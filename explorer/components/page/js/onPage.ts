import { createStore } from "../../dom/js/store.ts";
import { chosenBefore } from "./everythingChosen.ts";
import type { LessonOnPage } from "./lessonOnPage.ts";
import type { PictureOnPage } from "./pictureOnPage.ts";

/** What the components of a page, each in a shadow root of its own, know of each other. */
export interface OnPage {
  everything: boolean; // whether all controls are shown, not only those of a first look
  lesson: LessonOnPage | null; // null while no lesson is open
  picture: PictureOnPage | null; // the part mounted last: one before may still be there for a while
  classVotes: boolean; // whether guests of a class vote on what is hidden
  away: boolean; // whether the picture shows something else than the card of the lesson
  specials: Record<string, string>; // what Simple calls special tokens, by technical word
}

/** One for all components, which are one script: a script beside theirs has a store of its own. */
export const { values: onPage, set: setOnPage } = createStore<OnPage>({
  everything: chosenBefore(),
  lesson: null,
  picture: null,
  classVotes: false,
  away: false,
  specials: {},
});

/** Put what a component shows on the page, until it goes. */
export function placeOnPage<Name extends "lesson" | "picture">(
  name: Name,
  shown: NonNullable<OnPage[Name]>,
  signal: AbortSignal,
) {
  setOnPage({ [name]: shown });
  signal.addEventListener("abort", () => {
    if (onPage[name] === shown) setOnPage({ [name]: null });
  });
}
