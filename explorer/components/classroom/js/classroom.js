import { ASKED, CARD, CARD_REVEALED, REVEALED, SHOWN } from "../../shared/js/classEvents.js";
import { FOLLOWED } from "../../shared/js/lessonEvents.js";
import { wordsOf } from "../../shared/js/lookAddress.js";
import { createStream, send, takeTab } from "./stream.js";

/** @import { Led } from "./stream.js" */
/** @import { CardText, Described, Question, ShownCard, ShownPicture, ShownState, ShownTraining } from "../../shared/js/classEvents.js" */

/**
 * @typedef {Record<string, string>} Query of the URL that opens what is shown
 * @typedef {object} ClassView what guests follow; see `class_messages.py`
 * @property {Query} query
 * @property {ShownState} shown
 * @property {string} trace key of the host's own trace; "" without one
 * @property {ShownPicture} picture
 * @property {boolean} paused whether the host is on a page without a picture; guests keep the last one
 * @property {boolean} scores whether guests see how many of their votes were right
 * @property {CardText | null} card
 * @property {ShownTraining | null} training in the place of a trace
 *
 * @typedef {Question & {number: number, answered: number, asked: number, counts: number[] | null, choice: number | null, of_one_address?: number}} Asked
 *   of_one_address: for the host, the most votes that came from one network address
 *
 * @typedef {object} Message what the server tells this page; see `class_session.py`
 * @property {boolean} host
 * @property {number} present
 * @property {boolean} away whether the host is missed: guests go on alone
 * @property {boolean} elsewhere whether another tab of this host leads
 * @property {ClassView | null} view
 * @property {Asked | null} question
 * @property {number} right
 * @property {number} total
 *
 * @typedef {object} Classroom the one of this page, which its parts share
 * @property {() => Message | null} message
 * @property {() => boolean} leading whether guests follow this page
 * @property {() => boolean} scores whether they see how many of their votes were right
 * @property {() => boolean} isPaused whether this page shows nothing that guests can follow
 * @property {(leading: boolean) => void} lead
 * @property {(shown: boolean) => void} score
 * @property {() => void} takeOver let this tab of the host lead in the place of another
 * @property {(draw: () => void) => () => void} watch `draw` at each change; the result ends that
 */

const ABSENCE = 3000; // ms without a player, after which the page has none
const BUSY = "data-class-busy"; // on the page: no lesson is offered now

/**
 * The class as the host's page knows it: its event stream, and what guests are to follow.
 * @returns {Classroom & {close: () => void}}
 */
export function createClassroom() {
  /** @type {Set<() => void>} */
  const watchers = new Set();
  const redraw = () => {
    for (const draw of watchers) draw();
  };
  /** @type {Message | null} */
  let message = null;
  const tab = takeTab();
  const publishing = createPublishing(tab, redraw);
  /** @param {Message} next @param {boolean} opened */
  const take = (next, opened) => {
    const first = message === null || message.host !== next.host;
    message = next;
    publishing.take(next, first, opened);
    document.documentElement.toggleAttribute(BUSY, next.host);
    redraw();
  };
  const stream = createStream(tab.word, take);
  const ended = new AbortController();
  const { signal } = ended;
  const keep = () => tab.keep(publishing.led());
  window.addEventListener("pagehide", keep, { signal });
  /** @param {Event} event */
  const onShown = (event) =>
    publishing.shown(/** @type {CustomEvent<Described | null>} */ (event).detail);
  /** @param {Event} event */
  const onCard = (event) =>
    publishing.card(/** @type {CustomEvent<ShownCard | null>} */ (event).detail);
  document.addEventListener(SHOWN, onShown, { signal });
  document.addEventListener(CARD, onCard, { signal });
  document.dispatchEvent(new Event(ASKED));
  return {
    message: () => message,
    leading: publishing.leading,
    scores: publishing.scores,
    isPaused: publishing.isPaused,
    lead: publishing.lead,
    score: publishing.score,
    takeOver: publishing.takeOver,
    watch: (draw) => {
      watchers.add(draw);
      draw();
      return () => watchers.delete(draw);
    },
    close: () => {
      ended.abort();
      keep();
      stream.close();
      document.documentElement.removeAttribute(BUSY);
    },
  };
}

/**
 * What the page shows goes to the server, one request at a time, the latest last.
 * @param {{word: string, led: Led}} tab
 * @param {() => void} redraw
 */
function createPublishing({ word: page, led }, redraw) {
  /** @type {Described | null} */
  let described = null; // kept while the player is drawn anew, and on a page without one
  let paused = true; // there is no player
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let absence;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let leaving; // a card has gone, and its player perhaps goes, too
  /** @type {ShownCard | null} */
  let shownCard = null;
  /** @type {Asked | null} what this page had revealed before it was loaded again */
  let revealed = null;
  let elsewhere = false;
  let host = false;
  let leading = false;
  let scores = false;
  let published = ""; // the server may still have what an earlier page showed
  let busy = false;
  /** What the class is asked: while a lesson is open what its card asks, else what the player does. */
  const question = () => {
    if (paused || leaving !== undefined) return null;
    if (!document.documentElement.hasAttribute(FOLLOWED)) return described?.question ?? null;
    return (leading && shownCard?.question) || null;
  };
  const content = () => {
    const open = leading ? described : null;
    const view = open && { ...viewOf(open), paused, scores, card: shownCard?.card ?? null };
    return { page, view, question: question() };
  };
  const publish = async () => {
    if (busy || !host || elsewhere || !described) return;
    const asked = question();
    if (asked && isHiddenAgain(asked, revealed)) {
      revealed = null;
      revealAnswer(asked.kind); // the player, or the card, then says what it shows
      return;
    }
    revealed = null;
    busy = true;
    for (let next = JSON.stringify(content()); next !== published; ) {
      if (!(await send("screen", JSON.parse(next)))) break;
      published = next;
      next = JSON.stringify(content());
    }
    busy = false;
  };
  /**
   * @param {Message} message
   * @param {boolean} first of this page
   * @param {boolean} opened whether it is the first one of its stream
   */
  const take = (message, first, opened) => {
    const began = elsewhere && !message.elsewhere;
    ({ host, elsewhere } = message);
    if (first && host && (message.view || led)) {
      leading = true; // this page was loaded again, and the server perhaps started again
      scores = message.view?.scores ?? led === "scores";
    }
    if (first && host && message.question?.answer !== null) revealed = message.question;
    if (opened || began || message.away) published = "";
    publish(); // what could not be sent before
  };
  /** Guests keep the last picture; nothing is asked of it. */
  const pause = () => {
    paused = true;
    publish();
    redraw();
  };
  /** The lesson is left, and its player has gone, or is there still and may ask. */
  const leave = () => {
    leaving = undefined;
    publish();
  };
  const takeOver = () => {
    leading = true;
    send("lead", { page });
  };
  return {
    take,
    leading: () => leading,
    scores: () => scores,
    /** @returns {Led} */
    led: () => (leading ? (scores ? "scores" : "leads") : ""),
    isPaused: () => paused,
    /** @param {boolean} wanted */
    lead: (wanted) => {
      leading = wanted;
      if (elsewhere && wanted) takeOver();
      publish();
      redraw();
    },
    /** @param {boolean} shown */
    score: (shown) => {
      scores = shown;
      publish();
      redraw();
    },
    takeOver,
    /** @param {Described | null} next */
    shown: (next) => {
      clearTimeout(absence);
      if (next === null) {
        absence = setTimeout(pause, ABSENCE);
        return;
      }
      const other = paused || described?.visit !== next.visit;
      paused = false;
      described = next;
      publish();
      if (other) redraw();
    },
    /** @param {ShownCard | null} next */
    card: (next) => {
      clearTimeout(leaving);
      leaving = next ? undefined : setTimeout(leave, ABSENCE);
      shownCard = next;
      publish();
    },
  };
}

/**
 * Let the part of the page that asks a question show the answer.
 * @param {Question["kind"]} [kind]
 */
export function revealAnswer(kind) {
  document.dispatchEvent(new Event(kind === "card" ? CARD_REVEALED : REVEALED));
}

/**
 * Whether a question is the one that was revealed, before which the page was loaded again.
 * @param {Question} question
 * @param {Question | null} revealed
 */
function isHiddenAgain(question, revealed) {
  if (!revealed || question.answer !== null) return false;
  const parts = /** @type {const} */ ([
    "kind",
    "head",
    "tokens",
    "candidates",
    "positions",
    "prompt",
  ]);
  return parts.every((part) => JSON.stringify(question[part]) === JSON.stringify(revealed[part]));
}

/**
 * What the host shows, as guests ask for it.
 * @param {Described} described
 */
function viewOf({ visit, trace, picture, selection, shown, training }) {
  const query = { ...visit, ...wordsOf(selection) };
  return { query, shown, trace, picture, training: training ?? null };
}
