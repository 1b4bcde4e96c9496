import type {
  CardText,
  Described,
  Question,
  ShownCard,
  ShownPicture,
  ShownState,
  ShownTraining,
} from "../../page/js/classEvents.ts";
import { askShown, onCard, onShown, reveal, revealCard } from "../../page/js/classEvents.ts";
import { FOLLOWED } from "../../page/js/lessonEvents.ts";
import { wordsOf } from "../../trace/js/lookAddress.ts";
import type { Led } from "./stream.ts";
import { createStream, send, takeTab } from "./stream.ts";

export type Query = Record<string, string>; // of the URL that opens what is shown

/** What guests follow; see `class_messages.py`. */
export interface ClassView {
  query: Query;
  shown: ShownState;
  trace: string; // key of the host's own trace; "" without one
  picture: ShownPicture;
  paused: boolean; // whether the host is on a page without a picture; guests keep the last one
  scores: boolean; // whether guests see how many of their votes were right
  card: CardText | null;
  training: ShownTraining | null; // in the place of a trace
}

/** of_one_address: for the host, the most votes that came from one network address */
export type Asked = Question & {
  number: number;
  answered: number;
  asked: number;
  counts: number[] | null;
  choice: number | null;
  of_one_address?: number;
};

/** What the server tells this page; see `class_session.py`. */
export interface Message {
  host: boolean;
  present: number;
  away: boolean; // whether the host is missed: guests go on alone
  elsewhere: boolean; // whether another tab of this host leads
  view: ClassView | null;
  question: Asked | null;
  right: number;
  total: number;
}

/** The one of this page, which its parts share. */
export interface Classroom {
  message: () => Message | null;
  leading: () => boolean; // whether guests follow this page
  scores: () => boolean; // whether they see how many of their votes were right
  isPaused: () => boolean; // whether this page shows nothing that guests can follow
  lead: (leading: boolean) => void;
  score: (shown: boolean) => void;
  takeOver: () => void; // let this tab of the host lead in the place of another
  watch: (draw: () => void) => () => void; // `draw` at each change; the result ends that
}

const ABSENCE = 3000; // ms without a player, after which the page has none
const BUSY = "data-class-busy"; // on the page: no lesson is offered now

/** The class as the host's page knows it: its event stream, and what guests are to follow. */
export function createClassroom(): Classroom & { close: () => void } {
  const watchers: Set<() => void> = new Set();
  const redraw = () => {
    for (const draw of watchers) draw();
  };
  let message: Message | null = null;
  const tab = takeTab();
  const publishing = createPublishing(tab, redraw);
  const take = (next: Message, opened: boolean) => {
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
  onShown(publishing.shown, signal);
  onCard(publishing.card, signal);
  askShown();
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

/** What the page shows goes to the server, one request at a time, the latest last. */
function createPublishing({ word: page, led }: { word: string; led: Led }, redraw: () => void) {
  let described: Described | null = null; // kept while the player is drawn anew, and on a page without one
  let paused = true; // there is no player
  let absence: ReturnType<typeof setTimeout> | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined; // a card has gone, and its player perhaps goes, too
  let shownCard: ShownCard | null = null;
  let revealed: Asked | null = null; // what this page had revealed before it was loaded again
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
   * @param first of this page
   * @param opened whether it is the first one of its stream
   */
  const take = (message: Message, first: boolean, opened: boolean) => {
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
    led: (): Led => (leading ? (scores ? "scores" : "leads") : ""),
    isPaused: () => paused,
    lead: (wanted: boolean) => {
      leading = wanted;
      if (elsewhere && wanted) takeOver();
      publish();
      redraw();
    },
    score: (shown: boolean) => {
      scores = shown;
      publish();
      redraw();
    },
    takeOver,
    shown: (next: Described | null) => {
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
    card: (next: ShownCard | null) => {
      clearTimeout(leaving);
      leaving = next ? undefined : setTimeout(leave, ABSENCE);
      shownCard = next;
      publish();
    },
  };
}

/** Let the part of the page that asks a question show the answer. */
export function revealAnswer(kind?: Question["kind"]) {
  if (kind === "card") revealCard();
  else reveal();
}

/** Whether a question is the one that was revealed, before which the page was loaded again. */
function isHiddenAgain(question: Question, revealed: Question | null) {
  if (!revealed || question.answer !== null) return false;
  const parts = ["kind", "head", "tokens", "candidates", "positions", "prompt"] as const;
  return parts.every((part) => JSON.stringify(question[part]) === JSON.stringify(revealed[part]));
}

/** What the host shows, as guests ask for it. */
function viewOf({ visit, trace, picture, selection, shown, training }: Described) {
  const query = { ...visit, ...wordsOf(selection) };
  return { query, shown, trace, picture, training: training ?? null };
}
