import { ASKS, REVEALED } from "../../shared/js/classEvents.js";
import { assign, element, populate, write } from "../../shared/js/element.js";
import { labelOf, writeToken } from "../../shared/js/label.js";
import { createRadios } from "../../shared/js/radios.js";

/** @import { Say } from "../../shared/js/sentences.js" */
/** @import { Asked, Classroom, Message } from "./classroom.js" */

const ALONE = "data-class-alone";
const MOST_BARS = 30; // a long text has more keys, which the picture names: bars of those with votes

/**
 * The line above the player: whom a guest follows and, while the class guesses, the vote.
 * @param {Classroom} room
 * @param {Say} say
 */
export function createBar(room, say) {
  const status = element("span", { class: "status", role: "status", testid: "class-status" });
  const change = element("button", {
    type: "button",
    testid: "class-explore",
    on: { click: () => room.explore(!room.alone()) },
  });
  const takeOver = element(
    "button",
    { type: "button", testid: "class-take-over", on: { click: room.takeOver } },
    say("take_over"),
  );
  const line = element("div", { class: "line" }, status, change, takeOver);
  const ballot = createBallot(room, say);
  const result = createResult(say);
  const node = element("div", { class: "class" }, line, ballot.element, result.element);
  const update = () => {
    const message = room.message();
    const elsewhere = message?.elsewhere === true;
    const led = elsewhere || Boolean(message?.host ? room.leading() : message?.view);
    const aside = led && !message?.host && room.alone();
    const asked = aside ? null : (message?.question ?? null);
    node.classList.toggle("host", message?.host === true);
    line.hidden = !led;
    document.documentElement.toggleAttribute(ALONE, aside); // the page keeps the way back in view
    change.classList.toggle("back", aside);
    change.hidden = message?.host === true || message?.away === true;
    takeOver.hidden = !elsewhere;
    write(change, say(room.alone() ? "follow" : "explore_alone"));
    write(status, message ? statusOf(message, room, say) : "");
    ballot.update(message?.host ? null : asked, message);
    result.update(message?.host && !elsewhere ? asked : null);
  };
  return { element: node, update };
}

/**
 * @param {Message} message
 * @param {Classroom} room
 * @param {Say} say
 */
function statusOf({ host, away, elsewhere, present }, room, say) {
  if (elsewhere) return say("elsewhere", { count: present });
  if (host && room.isUpload()) return say("cannot_lead");
  const guest = away ? "away" : room.alone() ? "alone" : "following";
  return say(host ? "leading" : guest, { count: present });
}

/**
 * What the class guesses.
 * @param {Asked} asked
 * @param {Say} say
 */
function questionText({ kind, head, tokens }, say) {
  if (kind === "token") return say("asked");
  return say("asked_key", { head, query: labelOf(tokens.at(-1) ?? "") });
}

/**
 * The tokens that are known, and a question mark for the next one.
 * @param {HTMLElement} parent
 * @param {Asked} asked
 */
function writeTokens(parent, { kind, tokens }) {
  parent.hidden = kind === "key";
  const nodes = populate(parent, tokens.length + 1, () => element("bdi", { class: "chip token" }));
  tokens.forEach((token, index) => {
    writeToken(nodes[index], token);
  });
  writeToken(nodes[tokens.length], "?");
}

/**
 * A guest's vote: one large button for each candidate; after the reveal, how the class voted.
 * @param {Classroom} room
 * @param {Say} say
 */
function createBallot(room, say) {
  const tokens = element("span", { class: "known" });
  const tally = element("output", { class: "tally", testid: "class-tally" });
  const question = element("span", { testid: "class-question" });
  const head = element("div", { class: "asked" }, question, tokens, tally);
  const choices = element("div", { class: "choices", testid: "class-choices" });
  const note = element("p", { class: "note", role: "status", testid: "class-note" });
  const node = element(
    "section",
    { class: "ballot", "aria-label": say("asked") },
    head,
    choices,
    note,
  );
  const makeChoice = (/** @type {number} */ index) =>
    element(
      "button",
      {
        type: "button",
        class: "choice",
        on: { click: () => room.message()?.question?.answer === null && room.vote(index) },
      },
      element("span", { class: "position" }),
      element("bdi", { class: "token" }),
      element("span", { class: "votes" }),
    );
  /** @param {Asked | null} asked @param {Message | null} message */
  const update = (asked, message) => {
    node.hidden = asked === null;
    if (!asked || !message) return;
    write(question, questionText(asked, say));
    writeTokens(tokens, asked);
    write(tally, say("tally", { right: message.right, total: message.total }));
    tally.hidden = message.total === 0;
    const buttons = populate(choices, asked.candidates.length, makeChoice);
    buttons.forEach((button, index) => {
      drawChoice(button, asked, index);
    });
    write(note, noteOf(asked, say));
  };
  return { element: node, update };
}

/**
 * @param {HTMLElement} button
 * @param {Asked} asked
 * @param {number} index
 */
function drawChoice(button, asked, index) {
  const { candidates, choice, answer, counts } = asked;
  const [position, name, votes] = /** @type {HTMLElement[]} */ ([...button.children]);
  write(position, positionOf(asked, index));
  writeToken(name, candidates[index]);
  write(votes, counts && answer !== null ? countOf(counts[index]) : "");
  assign(button, "aria-pressed", choice === index ? "true" : "false");
  assign(button, "aria-disabled", answer === null ? null : "true");
  button.classList.toggle("right", answer === index);
  button.classList.toggle("wrong", answer !== null && choice === index && answer !== index);
}

/**
 * How many voted, beside a token that may be a number itself.
 * @param {number} votes
 */
function countOf(votes) {
  return votes ? `×${votes}` : "";
}

/**
 * The position of a key, from 1: a text may have the same token twice. "" for a token.
 * @param {Asked} asked
 * @param {number} index
 */
function positionOf({ positions }, index) {
  return index in positions ? String(positions[index] + 1) : "";
}

/**
 * @param {Asked} asked
 * @param {Say} say
 */
function noteOf({ kind, answer, choice, answered, asked }, say) {
  if (answer === null) {
    const counted = say("answered", { answered, asked });
    return choice === null ? counted : `${counted} ${say("may_change")}`;
  }
  if (choice === null) return say("not_voted");
  return say(choice === answer ? "voted_right" : `voted_wrong_${kind}`);
}

/**
 * The host's view of the vote: a bar for each candidate that grows while the class votes, and the
 * reveal.
 * @param {Say} say
 */
function createResult(say) {
  const count = element("strong", { class: "answered", role: "status", testid: "class-answered" });
  const address = element("span", { testid: "class-address" });
  const bars = element("div", { class: "bars", testid: "class-bars" });
  const reveal = element(
    "button",
    {
      type: "button",
      class: "reveal",
      testid: "class-reveal",
      on: { click: () => document.dispatchEvent(new Event(REVEALED)) },
    },
    say("reveal"),
  );
  const group = { names: ["token", "key"], prefix: "ask", label: "ask", small: true };
  const kinds = createRadios(say, group, (kind) =>
    document.dispatchEvent(new CustomEvent(ASKS, { detail: kind })),
  );
  const node = element(
    "section",
    { class: "result", "aria-label": say("votes") },
    kinds.element,
    count,
    address,
    bars,
    reveal,
  );
  const makeBar = () =>
    element(
      "span",
      { class: "vote" },
      element("span", { class: "position" }),
      element("bdi", { class: "token" }),
      element("span", { class: "track" }, element("span", { class: "share" })),
      element("span", { class: "votes" }),
    );
  /** @param {Asked | null} asked */
  const update = (asked) => {
    node.hidden = asked === null;
    if (!asked) return;
    kinds.check(asked.kind);
    write(count, say("answered", { answered: asked.answered, asked: asked.asked }));
    const ofOneAddress = asked.of_one_address ?? 0;
    write(address, say("of_one_address", { count: ofOneAddress }));
    address.hidden = ofOneAddress < 2;
    reveal.hidden = asked.answer !== null;
    const shown = asked.candidates
      .map((token, index) => ({ token, index, votes: asked.counts?.[index] ?? 0 }))
      .filter(
        ({ index, votes }, _, all) =>
          all.length <= MOST_BARS || votes > 0 || index === asked.answer,
      );
    const nodes = populate(bars, shown.length, makeBar);
    shown.forEach(({ token, index, votes }, at) => {
      const [position, name, track, number] = /** @type {HTMLElement[]} */ ([
        ...nodes[at].children,
      ]);
      write(position, positionOf(asked, index));
      writeToken(name, token);
      const share = asked.asked ? votes / asked.asked : 0;
      /** @type {HTMLElement} */ (track.firstElementChild).style.width = `${100 * share}%`;
      write(number, countOf(votes));
      nodes[at].classList.toggle("right", index === asked.answer);
    });
  };
  return { element: node, update };
}
