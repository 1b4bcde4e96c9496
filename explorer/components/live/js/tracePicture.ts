/**
 * The picture of the trace on screen: the player or, on the page of a guest whose host shows it, the
 * grid of all heads.
 */

import type { Strings } from "../../dom/js/sentences.ts";
import { openHeadGrid } from "../../head_views/js/headGridView.ts";
import { traceAsPayload } from "../../head_views/js/viewPayload.ts";
import type { ShownPicture, ShownState } from "../../page/js/classEvents.ts";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import { type Listeners, mountPlayer } from "../../player/js/player.ts";
import type { IntegrityCheck, Trace } from "../../trace/js/trace.ts";

export type Sentences = Record<string, Record<"player" | "heads", Strings>>; // by language

export class TracePicture {
  place: HTMLElement;
  sentences: Sentences;
  drawn: { trace: Trace; listeners: Listeners } | null; // that was drawn last
  player: ReturnType<typeof mountPlayer> | null;
  grid: ReturnType<typeof openHeadGrid> | null;

  constructor(place: HTMLElement, sentences: Sentences) {
    this.place = place;
    this.sentences = sentences;
    this.drawn = null;
    this.player = null;
    this.grid = null;
  }

  get view() {
    return this.grid ?? this.player;
  }

  draw(trace: Trace, listeners: Listeners, picture: ShownPicture) {
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

  /** Show the trace that was drawn last, and what is selected of it, in this picture. */
  turnTo(picture: ShownPicture) {
    if (!this.drawn || (picture === "player") === (this.player !== null)) return;
    const { trace, listeners } = this.drawn;
    Object.assign(trace.header.view, this.selection());
    this.draw(trace, listeners, picture);
  }

  /** Show what a host shows of the trace that was drawn last. */
  follow(picture: ShownPicture, shown: ShownState) {
    this.turnTo(picture);
    this.view?.follow(shown);
  }

  /** What is looked at; undefined before the first trace. */
  selection() {
    return this.view?.selection();
  }

  /** @param checks of the trace, which came without them */
  check(checks: IntegrityCheck[]) {
    if (this.drawn) this.drawn.trace.header.integrity = checks;
    this.view?.check(checks);
  }

  /** What was asked for does not come: the picture waits no longer. */
  rest() {
    this.view?.listen({});
  }
}
