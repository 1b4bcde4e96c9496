import {
  assign,
  buttonElement,
  element,
  type Part,
  populate,
  write,
} from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { createStore } from "../../dom/js/store.ts";
import { labelOf } from "../../trace/js/label.ts";
import type { ClassQuestion, ClassView, Message } from "./classroom.ts";
import { askedOf } from "./following.ts";
import { placeOf, questionText, renewFor, writeChoice, writeKnown } from "./question.ts";

/**
 * A guest's vote: the question and a large button for each choice; after the reveal, what was right.
 * @param given.vote on the question with this
 *   number; whether it counts
 */
export function createBallot({
  state,
  vote,
  say,
}: {
  state: Readonly<{ message: Message | null; alone: boolean }>;
  vote: (number: number, choice: number) => Promise<boolean>;
  say: Say;
}): Part {
  const { values: own, set } = createStore<{
    chosen: { number: number; choice: number } | null; // that is on its way, or was taken
    failed: number; // number of the question for which a choice could not be sent
  }>({ chosen: null, failed: 0 });
  const about = element("p", { class: "about", testid: "class-about" });
  const question = element("h2", { class: "question", testid: "class-question" });
  const known = element("p", { class: "known" });
  const choices = element("div", { class: "choices", testid: "class-choices" });
  const note = element("p", { class: "note", role: "status", testid: "class-note" });
  const score = element("output", { class: "score", testid: "class-tally" });
  const node = element(
    "section",
    { class: "ballot", "aria-label": say("votes") },
    about,
    question,
    known,
    choices,
    element("div", { class: "after" }, note, score),
  );
  const choose = async (choice: number) => {
    const asked = askedOf(state);
    if (!asked || asked.answer !== null) return;
    const mine = { number: asked.number, choice };
    set({ chosen: mine, failed: 0 });
    if ((await vote(mine.number, choice)) || own.chosen !== mine) return;
    set({ chosen: null, failed: mine.number }); // what the server has counts
  };
  const makeChoice = (index: number) =>
    buttonElement(
      () => choose(index),
      { class: "choice" },
      element("bdi", { class: "token" }),
      element("span", { class: "place" }),
    );
  const draw = () => {
    const { message } = state;
    const { chosen, failed } = own;
    const asked = askedOf(state);
    node.hidden = asked === null;
    if (!asked || !message) return;
    const choice = chosen?.number === asked.number ? chosen.choice : asked.choice;
    node.classList.toggle("open", asked.answer === null);
    question.classList.toggle("of-card", asked.kind === "card");
    write(about, aboutOf(asked, message.view));
    about.hidden = about.textContent === "";
    write(question, questionText(asked, say));
    writeKnown(known, asked);
    renewFor(choices, asked.number);
    populate(choices, asked.candidates.length, makeChoice).forEach((button, index) => {
      drawChoice(button, { asked, index, choice, say });
    });
    const unsent = failed === asked.number && asked.answer === null;
    write(note, unsent ? say("vote_not_sent") : noteOf(asked, choice, say));
    const { right, total, view } = message;
    write(score, say("tally", { right, total }));
    score.hidden = !view?.scores || asked.answer === null;
  };
  return { element: node, views: [draw] };
}

/** @param shown choice: this guest's */
function drawChoice(
  button: HTMLElement,
  {
    asked,
    index,
    choice,
    say,
  }: { asked: ClassQuestion; index: number; choice: number | null; say: Say },
) {
  const [name, place] = [...button.children] as HTMLElement[];
  const { answer } = asked;
  writeChoice(name, asked, index, say);
  write(place, placeOf(asked, index, say));
  assign(button, "aria-pressed", choice === index ? "true" : "false");
  assign(button, "aria-disabled", answer === null ? null : "true");
  button.classList.toggle("right", answer === index);
  button.classList.toggle("wrong", answer !== null && choice === index && answer !== index);
}

/** @param choice of this guest */
export function noteOf(
  { kind, answer, candidates }: ClassQuestion,
  choice: number | null,
  say: Say,
) {
  if (answer === null) return choice === null ? "" : say("may_change");
  if (choice === null) return say("not_voted");
  if (choice === answer) return say("voted_right");
  if (answer >= candidates.length) return say("voted_wrong_all");
  return say(`voted_wrong_${kind}`, { answer: labelOf(candidates[answer]) });
}

/**
 * What the question is about, for whoever cannot see the projector: the text, or that of the card.
 */
function aboutOf({ kind }: ClassQuestion, view: ClassView | null) {
  return (kind === "card" ? view?.card?.text : view?.query.text) ?? "";
}
