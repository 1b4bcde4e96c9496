import { buttonElement, element, type Part, populate, write } from "../../dom/js/element.ts";
import { createRadios } from "../../dom/js/radios.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { Kind } from "../../page/js/pictureOnPage.ts";
import { askedByHost, type ClassQuestion, type Classroom, revealAnswer } from "./classroom.ts";
import { placeOf, questionText, renewFor, writeChoice } from "./question.ts";

/** The line above the host's player: who follows and, while the class guesses, the votes. */
export function createHostBar(room: Classroom, say: Say): Part {
  const { state } = room;
  const status = element("span", { class: "status", role: "status", testid: "class-status" });
  const takeOver = buttonElement(room.takeOver, { testid: "class-take-over" }, say("take_over"));
  const line = element("div", { class: "line" }, status, takeOver);
  const result = createResult(room, say);
  const node = element("div", { class: "class" }, line, result.element);
  const drawStatus = () => {
    const { message, leading, paused } = state;
    const elsewhere = message?.elsewhere === true;
    line.hidden = message?.host !== true || !(elsewhere || leading);
    takeOver.hidden = !elsewhere;
    const words = elsewhere ? "elsewhere" : paused ? "paused" : "leading";
    write(status, message ? say(words, { count: message.present }) : "");
  };
  return { element: node, views: [drawStatus, ...(result.views ?? [])] };
}

/**
 * The vote on the projector: the question, how many have answered, a bar for each choice from left to
 * right that grows while the class votes, and the reveal.
 */
function createResult(room: Classroom, say: Say): Part {
  const { state } = room;
  const question = element("strong", { class: "question", testid: "class-asked" });
  const count = element("span", { class: "answered", role: "status", testid: "class-answered" });
  const bars = element("div", { class: "bars", testid: "class-bars" });
  const reveal = buttonElement(
    () => revealAnswer(state.message?.question?.kind),
    { class: "reveal", testid: "class-reveal" },
    say("reveal"),
  );
  const group = { names: ["token", "key"], prefix: "ask", label: "ask", small: true };
  const kinds = createRadios(say, group, (kind) => onPage.picture?.letGuess(kind as Kind));
  const scores = element("input", {
    type: "checkbox",
    testid: "class-scores",
    on: { change: () => room.score(scores.checked) },
  });
  const scored = element("label", { class: "scores" }, scores, say("scores"));
  const tools = element("div", { class: "ask" }, kinds.element, scored);
  const head = element("div", { class: "asked" }, question, count, reveal, tools);
  const node = element("section", { class: "result", "aria-label": say("votes") }, head, bars);
  const draw = () => {
    const asked = askedByHost(state.message);
    node.hidden = asked === null;
    if (!asked) return;
    const guessed = asked.kind === "token" || asked.kind === "key" ? asked.kind : null;
    kinds.element.hidden = guessed === null || asked.answer !== null; // no part of the answer
    if (guessed) kinds.check(guessed);
    scores.checked = state.scores;
    scored.hidden = !state.leading;
    write(question, questionText(asked, say));
    question.hidden = asked.kind === "card"; // which asks it
    write(count, say("answered", { answered: asked.answered, asked: asked.asked }));
    reveal.hidden = asked.answer !== null;
    drawBars(bars, asked, say);
  };
  return { element: node, views: [draw] };
}

function drawBars(parent: HTMLElement, asked: ClassQuestion, say: Say) {
  renewFor(parent, asked.number);
  const nodes = populate(parent, asked.candidates.length, () =>
    element(
      "span",
      { class: "vote" },
      element(
        "span",
        { class: "track" },
        element("span", { class: "votes" }),
        element("span", { class: "share" }),
      ),
      element(
        "span",
        { class: "name" },
        element("bdi", { class: "token" }),
        element("span", { class: "place" }),
      ),
    ),
  );
  nodes.forEach((node, index) => {
    const [track, name] = [...node.children] as HTMLElement[];
    const [number, bar] = [...track.children] as HTMLElement[];
    const [token, place] = [...name.children] as HTMLElement[];
    const votes = asked.counts?.[index] ?? 0;
    const share = asked.asked ? votes / asked.asked : 0;
    bar.style.setProperty("--share", String(share));
    write(number, String(votes));
    writeChoice(token, asked, index, say);
    write(place, placeOf(asked, index, say));
    node.classList.toggle("right", index === asked.answer);
  });
}
