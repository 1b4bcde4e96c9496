/**
 * The training on the host's screen of a class, in the place of a guest's player. It is drawn by the
 * app's own component, which is loaded when the first training comes.
 */

import { addressOf } from "../../classroom/js/stream.ts";
import { element, write } from "../../dom/js/element.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import type { ShownTraining } from "../../page/js/classEvents.ts";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import type {
  FollowedReplay,
  mountFollowedReplay,
} from "../../training_replay/js/followedReplay.ts";

export type Sentences = Record<"training_replay" | "player" | "class_tools", Strings>;

export type Wanted = { training: ShownTraining; language: string };

const ON_SCREEN = "data-class-training"; // on the page, in the place of the player
const AGAIN = [2000, 6000]; // ms before another try, by chance: all guests wait

export class HostTraining {
  sentencesIn: (language: string) => Sentences;
  note: HTMLParagraphElement;
  element: HTMLElement;
  root: ShadowRoot;
  wanted: Wanted | null;
  shown: string;
  selected: string;
  busy: boolean;
  timer: ReturnType<typeof setTimeout> | undefined; // until the next try
  opening: Promise<FollowedReplay> | null;
  replay: FollowedReplay | null; // once it is loaded

  constructor(sentencesIn: (language: string) => Sentences) {
    this.sentencesIn = sentencesIn;
    this.note = element("p", { class: "note", role: "status", testid: "training-note" });
    const place = element("div");
    this.element = element("main", { id: "training", hidden: true }, this.note, place);
    this.root = place.attachShadow({ mode: "open" });
    this.wanted = null;
    this.shown = ""; // the state of a run that the replay has, see `stateOf`
    this.selected = ""; // what was followed last
    this.busy = false;
    this.timer = undefined;
    this.opening = null;
    this.replay = null;
  }

  /** Show the training that the host shows; whether there is one. */
  follow(training: ShownTraining | null, language: string) {
    this.wanted = training && { training, language };
    this.element.hidden = !training;
    document.documentElement.toggleAttribute(ON_SCREEN, training !== null);
    if (training) this.load();
    else this.selected = "";
    return training !== null;
  }

  /** One request at a time, for the latest state. */
  async load() {
    clearTimeout(this.timer);
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted && this.shown !== stateOf(this.wanted)) await this.fetch(this.wanted);
      this.select();
    } catch {
      this.tell("no_trace");
      const pause = AGAIN[0] + Math.random() * (AGAIN[1] - AGAIN[0]);
      this.timer = setTimeout(() => this.load(), pause);
    }
    this.busy = false;
  }

  async fetch(wanted: Wanted) {
    const { language } = wanted;
    if (!this.shown) this.tell("trace_loading");
    this.opening ??= openReplay(this.root);
    this.opening.catch(() => {
      this.opening = null; // the next try may open it
    });
    const answer = await fetch(addressOf(`training?lang=${language}`));
    if (!answer.ok) throw new Error(String(answer.status));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    this.replay = await this.opening;
    this.replay.show(bytes, this.sentencesIn(language));
    this.shown = stateOf(wanted);
    write(this.note, "");
  }

  /** What the host selects next brings back a guest who looks at another moment or head. */
  select() {
    if (!this.wanted) return;
    const { training, language } = this.wanted;
    const { run, moment, site, layer, head } = training;
    const selected = JSON.stringify([run, language, moment, site, layer, head]);
    if (selected !== this.selected) this.replay?.follow({ moment, site, layer, head });
    this.selected = selected;
  }

  tell(key: string) {
    if (this.wanted)
      write(this.note, fillIn(this.sentencesIn(this.wanted.language).class_tools, key));
  }
}

function stateOf({ training: { run, others, revision }, language }: Wanted) {
  return JSON.stringify([run, others, revision, language]);
}

/** @param root which gets the replay and its style sheet */
async function openReplay(root: ShadowRoot): Promise<FollowedReplay> {
  const styles = element("link", { rel: "stylesheet", href: "training_replay.css" });
  const styled = new Promise((resolve, reject) => {
    styles.onload = resolve;
    styles.onerror = reject;
  });
  root.replaceChildren(styles);
  const address = new URL("training_replay.js", document.baseURI).href;
  const [replay] = await Promise.all([import(address), styled]);
  const component: { mountFollowedReplay: typeof mountFollowedReplay } = replay;
  return component.mountFollowedReplay(root, embeddedPlotly);
}
