import { assign, buttonElement, element, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { writeWords } from "./cardWords.ts";
import type { Content, Lesson } from "./content.ts";
import { createEnding } from "./ending.ts";
import { createQuestion } from "./question.ts";

export interface Actions {
  back: () => void;
  next: () => void;
  again: () => void;
  leave?: () => void; // not in an exported page
  choose: (choice: number) => void;
}

type Buttons = Record<"back" | "next" | "again" | "leave", HTMLButtonElement>;

/** The elements of the card, and what draws a card, or the end of the lesson, into them. */
export function createParts(say: Say, actions: Actions) {
  const button = (name: keyof Buttons) =>
    buttonElement(actions[name], { testid: `lesson-${name}` });
  const buttons: Buttons = {
    back: button("back"),
    next: button("next"),
    again: button("again"),
    leave: button("leave"),
  };
  const heading = createHeading(say);
  const text = element("p", { class: "text", "aria-live": "polite", testid: "lesson-text" });
  const question = createQuestion(say, actions.choose);
  const ending = createEnding(say);
  const moves = element("div", { class: "moves" }, ...Object.values(buttons));
  const root = element(
    "section",
    { class: "player lesson", testid: "lesson" },
    element("div", { class: "side" }, heading.element, moves),
    text,
    question.element,
    ending.element,
  );
  const drawAround = (shown: Content, index: number, away: boolean) => {
    const lesson = shown.lesson as Lesson;
    const ended = index >= lesson.cards.length;
    assign(root, "aria-label", `${say("card_label")}: ${lesson.title}`);
    heading.draw(lesson, index, away);
    text.hidden = ended;
    ending.element.hidden = !ended;
    drawMoves(say, buttons, index, away);
    drawWayOn(say, shown, index, { ...buttons, leaves: Boolean(actions.leave) });
  };
  const draw = (shown: Content, index: number, choice: number | undefined, away: boolean) => {
    const card = shown.lesson?.cards[index];
    drawAround(shown, index, away);
    writeWords(text, card ? card.problem || card.text : "", say);
    text.classList.toggle("problem", Boolean(card?.problem));
    question.draw(card, choice);
  };
  /** @param right how many first tries were; null where nobody has tried */
  const drawEnd = (shown: Content, right: number | null) => {
    const lesson = shown.lesson as Lesson;
    drawAround(shown, lesson.cards.length, false);
    question.draw(null, undefined);
    ending.draw(lesson, right);
  };
  /**
   * The card that is left takes no taps until the one that was asked for is there.
   * @param to its index; null = nothing is waited for
   */
  const drawWaiting = (lesson: Lesson, to: number | null) => {
    root.classList.toggle("waiting", to !== null);
    assign(root, "aria-busy", to === null ? null : "true");
    question.element.inert = to !== null;
    if (to !== null) heading.drawWaiting(lesson, to);
  };
  return { root, next: buttons.next, leave: buttons.leave, draw, drawEnd, drawWaiting };
}

/** The title, which card it is and, on the first one, how long the lesson takes. */
function createHeading(say: Say) {
  const title = element("h2", { testid: "lesson-title" });
  const progress = element("span", { class: "progress", testid: "lesson-progress" });
  const minutes = element("span", { class: "progress", testid: "lesson-minutes" });
  const node = element("div", { class: "heading" }, title, progress, minutes);
  const draw = (lesson: Lesson, index: number, away: boolean) => {
    const ended = index >= lesson.cards.length;
    const place = { card: index + 1, cards: lesson.cards.length };
    write(title, lesson.title);
    assign(title, "title", lesson.aims || null);
    write(progress, say(ended ? "ended" : away ? "progress_away" : "progress", place));
    assign(progress, "aria-label", ended ? null : say("progress_spoken", place));
    write(minutes, say("minutes", { minutes: lesson.minutes }));
    minutes.hidden = index > 0 || !lesson.minutes;
  };
  const drawWaiting = ({ cards }: Lesson, to: number) => {
    write(progress, say("loading", { card: to + 1, cards: cards.length }));
    assign(progress, "aria-label", null);
  };
  return { element: node, draw, drawWaiting };
}

function drawMoves(say: Say, { back, next, again }: Buttons, index: number, away: boolean) {
  write(back, say("back"));
  back.disabled = index === 0;
  again.classList.toggle("primary", away);
  next.classList.toggle("primary", !away);
}

/**
 * The buttons that lead on from a card, and out of the lesson. In the app a lesson is left at any
 * card; a page of its own says at its end where it leads back to.
 * @param buttons leaves:
 *   whether the lesson can be left
 */
function drawWayOn(
  say: Say,
  { lesson, back }: Content,
  index: number,
  { next, again, leave, leaves }: Buttons & { leaves: boolean },
) {
  const cards = lesson?.cards.length ?? 0;
  const ended = index >= cards;
  const following = ended ? lesson?.following : null;
  write(next, say(ended ? "next_lesson" : index + 1 < cards ? "next" : "finish"));
  assign(next, "title", following ? following[1] : null);
  next.hidden = ended && !following;
  write(again, say(ended ? "again" : "view"));
  assign(again, "title", say(ended ? "again_title" : "view_title"));
  write(leave, say(ended ? "to_explorer" : "leave"));
  assign(leave, "title", back ? null : say("leave_title"));
  leave.hidden = !leaves || (Boolean(back) && !ended);
  leave.classList.toggle("primary", ended && !following);
}
