import { ASKS } from "../../shared/js/classEvents.js";
import { element, populate, write } from "../../shared/js/element.js";
import { createRadios } from "../../shared/js/radios.js";
import { revealAnswer } from "./classroom.js";
import { placeOf, questionText, renewFor, writeChoice } from "./question.js";

/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Asked, Classroom, Message } from "./classroom.js" */

/**
 * The line above the host's player: who follows and, while the class guesses, the votes.
 * @param {Classroom} room
 * @param {Say} say
 */
export function createHostBar(room, say) {
  const status = element("span", { class: "status", role: "status", testid: "class-status" });
  const takeOver = element(
    "button",
    { type: "button", testid: "class-take-over", on: { click: room.takeOver } },
    say("take_over"),
  );
  const line = element("div", { class: "line" }, status, takeOver);
  const result = createResult(room, say);
  const node = element("div", { class: "class" }, line, result.element);
  const update = () => {
    const message = room.message();
    const host = message?.host === true;
    const elsewhere = message?.elsewhere === true;
    line.hidden = !host || !(elsewhere || room.leading());
    takeOver.hidden = !elsewhere;
    write(status, message ? statusOf(message, room, say) : "");
    result.update(host && !elsewhere ? message.question : null);
  };
  return { element: node, update };
}

/**
 * @param {Message} message
 * @param {Classroom} room
 * @param {Say} say
 */
function statusOf({ elsewhere, present }, room, say) {
  if (elsewhere) return say("elsewhere", { count: present });
  return say(room.isPaused() ? "paused" : "leading", { count: present });
}

/**
 * The vote on the projector: the question, how many have answered, a bar for each choice from left to
 * right that grows while the class votes, and the reveal.
 * @param {Classroom} room
 * @param {Say} say
 */
function createResult(room, say) {
  const question = element("strong", { class: "question", testid: "class-asked" });
  const count = element("span", { class: "answered", role: "status", testid: "class-answered" });
  const address = element("span", { class: "note", testid: "class-address" });
  const bars = element("div", { class: "bars", testid: "class-bars" });
  const reveal = element(
    "button",
    {
      type: "button",
      class: "reveal",
      testid: "class-reveal",
      on: { click: () => revealAnswer(room.message()?.question?.kind) },
    },
    say("reveal"),
  );
  const group = { names: ["token", "key"], prefix: "ask", label: "ask", small: true };
  const kinds = createRadios(say, group, (kind) =>
    document.dispatchEvent(new CustomEvent(ASKS, { detail: kind })),
  );
  const scores = element("input", {
    type: "checkbox",
    testid: "class-scores",
    on: { change: () => room.score(scores.checked) },
  });
  const scored = element("label", { class: "scores" }, scores, say("scores"));
  const tools = element("div", { class: "ask" }, kinds.element, scored, address);
  const head = element("div", { class: "asked" }, question, count, reveal, tools);
  const node = element("section", { class: "result", "aria-label": say("votes") }, head, bars);
  /** @param {Asked | null} asked */
  const update = (asked) => {
    node.hidden = asked === null;
    if (!asked) return;
    kinds.element.hidden = asked.kind === "card";
    if (asked.kind !== "card") kinds.check(asked.kind);
    scores.checked = room.scores();
    scored.hidden = !room.leading();
    write(question, questionText(asked, say));
    question.hidden = asked.kind === "card"; // which asks it
    write(count, say("answered", { answered: asked.answered, asked: asked.asked }));
    const ofOne = asked.of_one_address ?? 0;
    write(address, say("of_one_address", { count: ofOne }));
    address.hidden = ofOne < 2;
    reveal.hidden = asked.answer !== null;
    drawBars(bars, asked, say);
  };
  return { element: node, update };
}

/**
 * @param {HTMLElement} parent
 * @param {Asked} asked
 * @param {Say} say
 */
function drawBars(parent, asked, say) {
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
    const [track, name] = /** @type {HTMLElement[]} */ ([...node.children]);
    const [number, bar] = /** @type {HTMLElement[]} */ ([...track.children]);
    const [token, place] = /** @type {HTMLElement[]} */ ([...name.children]);
    const votes = asked.counts?.[index] ?? 0;
    const share = asked.asked ? votes / asked.asked : 0;
    bar.style.setProperty("--share", String(share));
    write(number, String(votes));
    writeChoice(token, asked, index);
    write(place, placeOf(asked, index, say));
    node.classList.toggle("right", index === asked.answer);
  });
}
