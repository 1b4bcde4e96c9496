/**
 * The picture of the trace on screen: the player or, on the page of a guest whose host shows it, the
 * grid of all heads.
 *
 * @import { Listeners } from "../../player/js/player.js"
 * @import { ShownPicture, ShownState } from "../../shared/js/classEvents.js"
 * @import { Strings } from "../../shared/js/sentences.js"
 * @import { IntegrityCheck, Trace } from "../../shared/js/trace.js"
 * @typedef {Record<string, Record<"player" | "heads", Strings>>} Sentences by language
 */

import { openHeadGrid } from "../../head_views/js/headGridView.js";
import { traceAsPayload } from "../../head_views/js/viewPayload.js";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.js";
import { mountPlayer } from "../../player/js/player.js";

export class TracePicture {
  /**
   * @param {HTMLElement} place
   * @param {Sentences} sentences
   */
  constructor(place, sentences) {
    this.place = place;
    this.sentences = sentences;
    /** @type {{trace: Trace, listeners: Listeners} | null} that was drawn last */
    this.drawn = null;
    /** @type {ReturnType<typeof mountPlayer> | null} */
    this.player = null;
    /** @type {ReturnType<typeof openHeadGrid> | null} */
    this.grid = null;
  }

  get view() {
    return this.grid ?? this.player;
  }

  /**
   * @param {Trace} trace
   * @param {Listeners} listeners
   * @param {ShownPicture} picture
   */
  draw(trace, listeners, picture) {
    const strings = this.sentences[trace.header.language];
    trace.header.strings = strings.player;
    const before = this.drawn?.trace.header.language;
    this.drawn = { trace, listeners };
    const options = { plotly: embeddedPlotly, ...listeners };
    if (picture === "player") {
      this.grid?.destroy();
      this.grid = null;
      this.player?.listen(listeners);
      this.player?.update(trace);
      this.player ??= mountPlayer(this.place, trace, options);
      return;
    }
    this.player?.destroy();
    this.player = null;
    if (before !== trace.header.language) {
      this.grid?.destroy(); // its sentences are written once
      this.grid = null;
    }
    const payload = traceAsPayload(trace, strings.heads);
    this.grid?.listen(listeners);
    this.grid?.update(payload);
    this.grid ??= openHeadGrid(this.place, payload, options);
  }

  /**
   * Show the trace that was drawn last, and what is selected of it, in this picture.
   * @param {ShownPicture} picture
   */
  turnTo(picture) {
    if (!this.drawn || (picture === "player") === (this.player !== null)) return;
    const { trace, listeners } = this.drawn;
    Object.assign(trace.header.view, this.selection());
    this.draw(trace, listeners, picture);
  }

  /**
   * Show what a host shows of the trace that was drawn last.
   * @param {ShownPicture} picture
   * @param {ShownState} shown
   */
  follow(picture, shown) {
    this.turnTo(picture);
    this.view?.follow(shown);
  }

  /** What is looked at; undefined before the first trace. */
  selection() {
    return this.view?.selection();
  }

  /** @param {IntegrityCheck[]} checks of the trace, which came without them */
  check(checks) {
    if (this.drawn) this.drawn.trace.header.integrity = checks;
    this.view?.check(checks);
  }

  /** What was asked for does not come: the picture waits no longer. */
  rest() {
    this.view?.listen({});
  }
}
