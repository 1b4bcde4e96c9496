import { ADMITTED, ASKED, MIRRORED, REVEALED, SHOWN, VOTED } from "../../shared/js/classEvents.js";
import { FOLLOWED, onOpened } from "../../shared/js/lessonEvents.js";
import { REQUEST_WORDS } from "../../shared/js/look.js";
import { wordsOf } from "../../shared/js/lookAddress.js";
import { createStream, send } from "./stream.js";

/** @import { Chosen, Described, Mirrored, Question, ShownState } from "../../shared/js/classEvents.js" */

/**
 * @typedef {Record<string, string>} Query of the URL that opens what is shown
 * @typedef {{query: Query, shown: ShownState}} ClassView
 *
 * @typedef {Question & {number: number, answered: number, asked: number, counts: number[] | null, choice: number | null, of_one_address?: number}} Asked
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
 * @property {() => boolean} alone whether this guest has left the host's view
 * @property {() => boolean} leading whether this host's view is mirrored
 * @property {() => boolean} isUpload whether no guest can ask for what this page shows
 * @property {(alone: boolean) => void} explore
 * @property {(leading: boolean) => void} lead
 * @property {() => void} takeOver let this tab of the host lead in the place of another
 * @property {(choice: number) => void} vote
 * @property {(draw: () => void) => () => void} watch `draw` at each change; the result ends that
 * @property {(open: (query: Query) => void) => void} openWith how this page asks for another trace
 */

const ALONE = "explorer-alone"; // in the session's storage: a reload stays where the guest was
const PAGE = "explorer-page"; // there, too, while no page of this tab is open
const BUSY = "data-class-busy"; // on the page: no lesson is offered now
const PATIENCE = 8000; // ms for another trace before it is asked for again

/**
 * The class as this page knows it: its event stream, and what its own player shows.
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
  const page = takePage();
  const keepPage = () => sessionStorage.setItem(PAGE, page);
  const publishing = createPublishing(page, redraw);
  const following = createFollowing(redraw);
  /** @param {Message} next */
  const take = (next) => {
    const first = message === null || message.host !== next.host;
    message = next;
    publishing.take(next, first);
    following.take(next);
    document.documentElement.toggleAttribute(
      BUSY,
      next.host || next.away || next.question !== null,
    );
    redraw();
  };
  const stream = createStream(page, take);
  const ended = new AbortController();
  window.addEventListener("pagehide", keepPage, { signal: ended.signal });
  /** @param {Event} event */
  const onShown = (event) => {
    const { detail } = /** @type {CustomEvent<Described>} */ (event);
    publishing.shown(detail);
    following.shown(detail);
  };
  /** @param {number} choice */
  const vote = (choice) => {
    if (message?.question) send("vote", { number: message.question.number, choice });
  };
  /** @param {Event} event */
  const onVoted = (event) => {
    const { detail } = /** @type {CustomEvent<Chosen>} */ (event);
    const question = message?.question;
    if (question?.answer !== null || question.kind !== detail.kind) return;
    const { candidates, positions } = question;
    const asKey = detail.kind === "key";
    const choice = asKey ? positions.indexOf(detail.position) : candidates.indexOf(detail.token);
    if (choice >= 0) vote(choice);
  };
  document.addEventListener(SHOWN, onShown, { signal: ended.signal });
  document.addEventListener(VOTED, onVoted, { signal: ended.signal });
  onOpened(following.leave, ended.signal);
  document.addEventListener(ADMITTED, stream.reopen, { signal: ended.signal });
  document.dispatchEvent(new Event(ASKED));
  return {
    message: () => message,
    alone: following.alone,
    leading: publishing.leading,
    isUpload: publishing.isUpload,
    explore: following.explore,
    lead: publishing.lead,
    takeOver: publishing.takeOver,
    vote,
    watch: (draw) => {
      watchers.add(draw);
      draw();
      return () => watchers.delete(draw);
    },
    openWith: following.openWith,
    close: () => {
      ended.abort();
      keepPage();
      stream.close();
      document.documentElement.removeAttribute(BUSY);
      tellPlayer({ on: false, shown: null });
    },
  };
}

/**
 * The word of this tab: after a reload the one before; a copy of the tab gets another, since it is
 * in the storage only while no page is open.
 */
function takePage() {
  const kept = sessionStorage.getItem(PAGE);
  sessionStorage.removeItem(PAGE);
  return kept ?? Math.random().toString(36).slice(2);
}

/**
 * The host's part: what the player shows goes to the server, one request at a time, the latest last.
 * @param {string} page
 * @param {() => void} redraw
 */
function createPublishing(page, redraw) {
  /** @type {Described | null} */
  let described = null;
  /** @type {Asked | null} what this page had revealed before it was loaded again */
  let revealed = null;
  let elsewhere = false;
  let host = false;
  let leading = false;
  let published = ""; // the server may still have what an earlier page showed
  let busy = false;
  const content = () => {
    const view = leading && described?.visit ? viewOf(described) : null;
    return { page, view, question: described?.question ?? null };
  };
  const publish = async () => {
    if (busy || !host || elsewhere || !described) return;
    if (isHiddenAgain(described.question, revealed)) {
      revealed = null;
      document.dispatchEvent(new Event(REVEALED)); // the player then says what it shows
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
  /** @param {Message} message @param {boolean} first */
  const take = (message, first) => {
    const began = elsewhere && !message.elsewhere;
    ({ host, elsewhere } = message);
    if (first && host && message.view) leading = true; // this page was loaded again
    if (first && host && message.question?.answer !== null) revealed = message.question;
    if (first || began || message.away) published = "";
    publish(); // what could not be sent before
  };
  const takeOver = () => {
    leading = true;
    send("lead", { page });
  };
  return {
    take,
    leading: () => leading,
    isUpload: () => described !== null && described.visit === null,
    /** @param {boolean} wanted */
    lead: (wanted) => {
      leading = wanted;
      if (elsewhere && wanted) takeOver();
      publish();
      redraw();
    },
    takeOver,
    /** @param {Described} next */
    shown: (next) => {
      const other = described?.visit !== next.visit;
      described = next;
      publish();
      if (other) redraw();
    },
  };
}

/**
 * Whether a question is the one that was revealed, before which the page was loaded again.
 * @param {Question | null} question
 * @param {Question | null} revealed
 */
function isHiddenAgain(question, revealed) {
  if (!question || !revealed || question.answer !== null) return false;
  const parts = /** @type {const} */ (["kind", "head", "tokens", "candidates", "positions"]);
  return parts.every((part) => JSON.stringify(question[part]) === JSON.stringify(revealed[part]));
}

/**
 * The guest's part: the player mirrors what the host shows, until the guest explores alone.
 * @param {() => void} redraw
 */
function createFollowing(redraw) {
  /** @type {ClassView | null} */
  let view = null;
  let first = true; // no message was taken yet
  let led = false; // by a host, who may be away
  /** @type {Described | null} */
  let described = null;
  let alone = sessionStorage.getItem(ALONE) !== null;
  /** @type {Set<string>} visits that were asked for in the host's name and are not here yet */
  const awaited = new Set();
  let requested = "";
  let arrived = ""; // the visit that was shown last while following
  /** @type {(query: Query) => void} */
  let open = () => {};
  const mirror = () => {
    if (!view || alone) {
      tellPlayer({ on: false, shown: null });
      return;
    }
    const wanted = visitOf(view.query);
    const here = wanted === visitOf(described?.visit ?? {});
    tellPlayer({ on: true, shown: here ? view.shown : null });
    if (here) arrived = requested = wanted;
    else if (requested !== wanted && described) {
      requested = wanted;
      awaited.add(wanted);
      open(view.query);
      setTimeout(() => {
        // A busy server may have refused it.
        if (requested !== wanted || arrived === wanted) return;
        requested = "";
        mirror();
      }, PATIENCE);
    }
  };
  /** @param {boolean} wanted */
  const explore = (wanted) => {
    alone = wanted;
    requested = arrived = "";
    if (alone) sessionStorage.setItem(ALONE, "1");
    else sessionStorage.removeItem(ALONE);
    mirror();
    redraw();
  };
  /** A lesson and the host would fight for the picture. */
  const leave = () => {
    if (led && !alone) explore(true);
  };
  return {
    leave,
    /** @param {Message} message */
    take: (message) => {
      const opened = first && document.documentElement.hasAttribute(FOLLOWED);
      first = false;
      led = !message.host && message.view !== null;
      const next = led && !message.away ? message.view : null;
      if (JSON.stringify(next) === JSON.stringify(view)) return;
      view = next;
      if (!view) requested = arrived = ""; // this guest may go elsewhere before the host is back
      if (opened) leave();
      mirror();
    },
    /** @param {Described} next */
    shown: (next) => {
      const before = visitOf(described?.visit ?? {});
      const now = visitOf(next.visit ?? {});
      described = next;
      if (!view || alone || before === now) return;
      if (awaited.delete(now)) requested = now;
      else if (before === arrived) {
        explore(true); // a guest who asks for another text has left the host's
        return;
      }
      mirror();
    },
    explore,
    alone: () => alone,
    /** @param {(query: Query) => void} request */
    openWith: (request) => {
      open = request;
    },
  };
}

/** @param {Mirrored} detail */
function tellPlayer(detail) {
  document.documentElement.toggleAttribute("data-follows", detail.on); // other parts of the page make room
  document.dispatchEvent(new CustomEvent(MIRRORED, { detail }));
}

/**
 * What the host shows, as guests ask for it.
 * @param {Described} described
 * @returns {ClassView}
 */
function viewOf({ visit, selection, shown }) {
  return { query: { ...visit, ...wordsOf(selection) }, shown };
}

/**
 * The part of a query that asks for a trace.
 * @param {Query} query
 */
function visitOf(query) {
  return JSON.stringify(REQUEST_WORDS.map((name) => query[name] ?? ""));
}
