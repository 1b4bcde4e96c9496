/**
 * The training on the host's screen of a class, in the place of a guest's player. It is drawn by the
 * app's own component, which is loaded when the first training comes.
 *
 * @import { ShownTraining } from "../../shared/js/classEvents.js"
 * @import { Strings } from "../../shared/js/sentences.js"
 * @import { FollowedReplay, mountFollowedReplay } from "../../training_replay/js/followedReplay.js"
 * @typedef {Record<"training_replay" | "player" | "class_tools", Strings>} Sentences
 * @typedef {{training: ShownTraining, language: string}} Wanted
 */

import { addressOf } from "../../classroom/js/stream.js";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.js";
import { element, write } from "../../shared/js/element.js";
import { fillIn } from "../../shared/js/sentences.js";

const ON_SCREEN = "data-class-training"; // on the page, in the place of the player
const AGAIN = [2000, 6000]; // ms before another try, by chance: all guests wait

export class HostTraining {
  /** @param {(language: string) => Sentences} sentencesIn */
  constructor(sentencesIn) {
    this.sentencesIn = sentencesIn;
    this.note = element("p", { class: "note", role: "status", testid: "training-note" });
    const place = element("div");
    this.element = element("main", { id: "training", hidden: true }, this.note, place);
    this.root = place.attachShadow({ mode: "open" });
    /** @type {Wanted | null} */
    this.wanted = null;
    this.shown = ""; // the state of a run that the replay has, see `stateOf`
    this.selected = ""; // what was followed last
    this.busy = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} until the next try */
    this.timer = undefined;
    /** @type {Promise<FollowedReplay> | null} */
    this.opening = null;
    /** @type {FollowedReplay | null} once it is loaded */
    this.replay = null;
  }

  /**
   * Show the training that the host shows; whether there is one.
   * @param {ShownTraining | null} training
   * @param {string} language
   */
  follow(training, language) {
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

  /** @param {Wanted} wanted */
  async fetch(wanted) {
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

  /** @param {string} key */
  tell(key) {
    if (this.wanted)
      write(this.note, fillIn(this.sentencesIn(this.wanted.language).class_tools, key));
  }
}

/** @param {Wanted} wanted */
function stateOf({ training: { run, others, revision }, language }) {
  return JSON.stringify([run, others, revision, language]);
}

/**
 * @param {ShadowRoot} root which gets the replay and its style sheet
 * @returns {Promise<FollowedReplay>}
 */
async function openReplay(root) {
  const styles = element("link", { rel: "stylesheet", href: "training_replay.css" });
  const styled = new Promise((resolve, reject) => {
    styles.onload = resolve;
    styles.onerror = reject;
  });
  root.replaceChildren(styles);
  const address = new URL("training_replay.js", document.baseURI).href;
  const [replay] = await Promise.all([import(address), styled]);
  /** @type {{mountFollowedReplay: typeof mountFollowedReplay}} */
  const component = replay;
  return component.mountFollowedReplay(root, embeddedPlotly);
}
