import { latestOnly } from "../../dom/js/latestOnly.ts";
import { createScreen, createStore, type View } from "../../dom/js/store.ts";
import {
  askShown,
  type CardText,
  type Described,
  onCard,
  onShown,
  type Question,
  reveal,
  revealCard,
  type ShownCard,
  type ShownPicture,
  type ShownState,
  type ShownTraining,
} from "../../page/js/classEvents.ts";
import { isInLesson } from "../../page/js/lessonEvents.ts";
import { wordsOf } from "../../trace/js/lookAddress.ts";
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

/** What the host's page knows and shows. */
interface ClassState {
  message: Message | null; // the latest one
  leading: boolean; // whether guests follow this page
  scores: boolean; // whether they see how many of their votes were right
  paused: boolean; // whether this page shows nothing that guests can follow
  described: Described | null; // kept while the player is drawn anew, and on a page without one
  card: ShownCard | null;
  leaving: boolean; // a card has gone, and its player perhaps goes, too
}

/** The one of this page, which its parts share. */
export interface Classroom {
  state: Readonly<ClassState>;
  lead: (leading: boolean) => void;
  score: (shown: boolean) => void;
  takeOver: () => void; // let this tab of the host lead in the place of another
  /**
   * Draw what reads `state`, until the result is called. The page may have loaded this module more than
   * once, and a view is tracked only by the copy of `store.ts` that made the state.
   */
  show: (views: View[]) => () => void;
  close: () => void;
}

const ABSENCE = 3000; // ms without a player, after which the page has none
const BUSY = "data-class-busy"; // on the page: no lesson is offered now

/** The class as the host's page knows it: its event stream, and what guests are to follow. */
export function createClassroom(): Classroom {
  const tab = takeTab();
  const { values: state, set } = createStore<ClassState>({
    ...{ message: null, leading: false, scores: false },
    ...{ paused: true, described: null, card: null, leaving: false },
  });
  const publishing = createPublishing(tab.word, state);
  const change = (patch: Partial<ClassState>) => {
    set(patch);
    publishing.publish();
  };
  const stream = createStream(tab.word, (message, opened) => {
    if (message.host && state.message?.host !== true) resume(message);
    const began = state.message?.elsewhere && !message.elsewhere;
    if (opened || began || message.away) publishing.forget();
    document.documentElement.toggleAttribute(BUSY, message.host);
    change({ message }); // and send what could not be sent before
  });
  /** This page was perhaps loaded again, and the server perhaps started again. */
  const resume = ({ view, question }: Message) => {
    if (view || tab.led) set({ leading: true, scores: view?.scores ?? tab.led === "scores" });
    if (question?.answer !== null) publishing.revealed(question);
  };
  const ended = new AbortController();
  const { signal } = ended;
  const keep = () => tab.keep(state.leading ? (state.scores ? "scores" : "leads") : "");
  window.addEventListener("pagehide", keep, { signal });
  let absence: ReturnType<typeof setTimeout> | undefined;
  onShown((described) => {
    clearTimeout(absence);
    if (described) change({ described, paused: false });
    else absence = setTimeout(() => change({ paused: true }), ABSENCE); // guests keep the last picture
  }, signal);
  let departure: ReturnType<typeof setTimeout> | undefined;
  onCard((card) => {
    clearTimeout(departure);
    if (!card) departure = setTimeout(() => change({ leaving: false }), ABSENCE);
    change({ card, leaving: card === null });
  }, signal);
  askShown();
  const takeOver = () => {
    set({ leading: true });
    send("lead", { page: tab.word });
  };
  return {
    state,
    lead: (leading) => {
      if (leading && state.message?.elsewhere) takeOver();
      change({ leading });
    },
    score: (scores) => change({ scores }),
    takeOver,
    show: (views) => {
      const screen = createScreen();
      screen.show({ views });
      screen.flush();
      return screen.stop;
    },
    close: () => {
      ended.abort();
      clearTimeout(absence); // what this room last knew is not what the next one shows
      clearTimeout(departure);
      keep();
      stream.close();
      document.documentElement.removeAttribute(BUSY);
    },
  };
}

/** What the page shows goes to the server, one request at a time, the latest last. */
function createPublishing(page: string, state: Readonly<ClassState>) {
  let published = ""; // the server may still have what an earlier page showed
  let revealed: Asked | null = null; // what this page had revealed before it was loaded again
  const sendLatest = latestOnly(async () => {
    const content = { page, ...contentOf(state) };
    const next = JSON.stringify(content);
    if (next !== published && (await send("screen", content))) published = next;
  });
  const publish = () => {
    const { message, described } = state;
    if (!message?.host || message.elsewhere || !described) return;
    const asked = questionOf(state);
    const again = asked && isHiddenAgain(asked, revealed);
    revealed = null;
    if (again)
      revealAnswer(asked.kind); // the player, or the card, then says what it shows
    else sendLatest();
  };
  return {
    publish,
    forget: () => {
      published = "";
    },
    revealed: (question: Asked | null) => {
      revealed = question;
    },
  };
}

function contentOf(state: ClassState) {
  const { described, leading, paused, scores, card } = state;
  const open = leading ? described : null;
  const view = open && { ...viewOf(open), paused, scores, card: card?.card ?? null };
  return { view, question: questionOf(state) };
}

/** What the class is asked: while a lesson is open what its card asks, else what the player does. */
function questionOf({ described, leading, paused, card, leaving }: ClassState) {
  if (paused || leaving) return null;
  if (!isInLesson()) return described?.question ?? null;
  return (leading && card?.question) || null;
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
