import { latestOnly } from "../../dom/js/latestOnly.ts";
import { createStore, untracked, whenever } from "../../dom/js/store.ts";
import { onPage, setOnPage } from "../../page/js/onPage.ts";
import type { CardText, Question, ShownCard, ShownView } from "../../page/js/pictureOnPage.ts";
import { createStream, send, takeTab } from "./stream.ts";

/** What guests follow; see `class_messages.py`. */
export interface ClassView extends ShownView {
  paused: boolean; // whether the host is on a page without a picture; guests keep the last one
  scores: boolean; // whether guests see how many of their votes were right
  card: CardText | null;
}

export type ClassQuestion = Question & {
  number: number;
  answered: number;
  asked: number;
  counts: number[] | null;
  choice: number | null;
};

/** What the server tells this page; see `class_session.py`. */
export interface Message {
  host: boolean;
  present: number;
  away: boolean; // whether the host is missed: guests go on alone
  elsewhere: boolean; // whether another tab of this host leads
  view: ClassView | null;
  question: ClassQuestion | null;
  right: number;
  total: number;
}

/** What the picture of the host's page shows, and lets guess. */
interface PictureNow {
  view: ShownView;
  question: Question | null;
}

/** What the host's page knows and shows. */
interface ClassState {
  message: Message | null; // the latest one
  leading: boolean; // whether guests follow this page
  scores: boolean; // whether they see how many of their votes were right
  paused: boolean; // whether this page shows nothing that guests can follow
  picture: PictureNow | null; // kept while it is drawn anew, and on a page without one
  card: ShownCard | null;
  leaving: boolean; // a card has gone, and its player perhaps goes, too
}

/** The one of this page, which its parts share. */
export interface Classroom {
  state: Readonly<ClassState>;
  lead: (leading: boolean) => void;
  score: (shown: boolean) => void;
  takeOver: () => void; // let this tab of the host lead in the place of another
  close: () => void;
}

const ABSENCE = 3000; // ms without a player, after which the page has none
const BUSY = "data-class-busy"; // on the page: no lesson is offered now

/** The class as the host's page knows it: its event stream, and what guests are to follow. */
export function createClassroom(): Classroom {
  const tab = takeTab();
  const { values: state, set } = createStore<ClassState>({
    ...{ message: null, leading: false, scores: false },
    ...{ paused: true, picture: null, card: null, leaving: false },
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
    setOnPage({ classVotes: askedByHost(message) !== null });
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
  watchPage(state, change, signal);
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
    close: () => {
      ended.abort();
      keep();
      stream.close();
      document.documentElement.removeAttribute(BUSY);
      setOnPage({ classVotes: false });
    },
  };
}

/** Keep what the page shows; what is drawn anew is away for a moment and has not gone. */
function watchPage(
  state: Readonly<ClassState>,
  change: (patch: Partial<ClassState>) => void,
  signal: AbortSignal,
) {
  let absence: ReturnType<typeof setTimeout> | undefined;
  const takePicture = (picture: PictureNow | null) => {
    clearTimeout(absence);
    if (picture) change({ picture, paused: false });
    else absence = setTimeout(() => change({ paused: true }), ABSENCE); // guests keep the last picture
  };
  let departure: ReturnType<typeof setTimeout> | undefined;
  const takeCard = (card: ShownCard | null) => {
    if (card === state.card) return;
    clearTimeout(departure);
    if (!card) departure = setTimeout(() => change({ leaving: false }), ABSENCE);
    change({ card, leaving: card === null });
  };
  whenever(() => {
    const now = pictureNow();
    untracked(() => takePicture(now));
  }, signal);
  whenever(() => {
    const card = onPage.lesson?.told() ?? null;
    untracked(() => takeCard(card));
  }, signal);
  signal.addEventListener("abort", () => {
    clearTimeout(absence); // what this room last knew is not what the next one shows
    clearTimeout(departure);
  });
}

function pictureNow(): PictureNow | null {
  const view = onPage.picture?.view() ?? null;
  return view && { view, question: onPage.picture?.question() ?? null };
}

/** What the page shows goes to the server, one request at a time, the latest last. */
function createPublishing(page: string, state: Readonly<ClassState>) {
  let published = ""; // the server may still have what an earlier page showed
  /** What this page had revealed before it was loaded again. */
  let revealed: ClassQuestion | null = null;
  const sendLatest = latestOnly(async () => {
    const content = { page, ...contentOf(state) };
    const next = JSON.stringify(content);
    if (next !== published && (await send("screen", content))) published = next;
  });
  const publish = () => {
    const { message, picture } = state;
    if (!message?.host || message.elsewhere || !picture) return;
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
    revealed: (question: ClassQuestion | null) => {
      revealed = question;
    },
  };
}

function contentOf(state: ClassState) {
  const { picture, leading, paused, scores, card } = state;
  const open = leading ? picture : null;
  const view = open && { ...open.view, paused, scores, card: card?.card ?? null };
  return { view, question: questionOf(state) };
}

/** What the class is asked: while a lesson is open what its card asks, else what the player does. */
function questionOf({ picture, leading, paused, card, leaving }: ClassState) {
  if (paused || leaving) return null;
  if (!onPage.lesson) return picture?.question ?? null;
  return (leading && card?.question) || null;
}

/** What guests vote on, as the page of the host who leads shows it, also after the reveal. */
export function askedByHost(message: Message | null) {
  return message?.host && !message.elsewhere ? message.question : null;
}

/** Let the part of the page that asks a question show the answer. */
export function revealAnswer(kind?: Question["kind"]) {
  if (kind === "card") onPage.lesson?.reveal();
  else onPage.picture?.reveal();
}

/** Whether a question is the one that was revealed, before which the page was loaded again. */
function isHiddenAgain(question: Question, revealed: Question | null) {
  if (!revealed || question.answer !== null) return false;
  const parts = ["kind", "head", "tokens", "candidates", "positions", "prompt"] as const;
  return parts.every((part) => JSON.stringify(question[part]) === JSON.stringify(revealed[part]));
}
