/**
 * The picture of the trace on screen: the player or, on the page of a guest whose host shows it, the
 * grid of all heads.
 */

import type { Plotly } from "../../dom/js/plotly.ts";
import type { Strings } from "../../dom/js/sentences.ts";
import { openHeadGrid } from "../../head_views/js/headGridView.ts";
import { traceAsPayload } from "../../head_views/js/viewPayload.ts";
import type { ShownPicture, ShownView } from "../../page/js/pictureOnPage.ts";
import { type Listeners, mountPlayer } from "../../player/js/player.ts";
import { flagsOf } from "../../trace/js/initialState.ts";
import type { IntegrityCheck, Trace } from "../../trace/js/trace.ts";

type Sentences = Record<string, Record<"player" | "heads", Strings>>; // by language

export type TracePicture = ReturnType<typeof createTracePicture>;

const TYPED_ON = 700; // ms in which somebody who types on has not seen yet that a text is shown

/** @param onTypedOn told before a letter is typed that is meant for the text box */
export function createTracePicture(
  place: HTMLElement,
  sentences: Sentences,
  plotly: () => Promise<Plotly>,
  onTypedOn: () => void,
) {
  let drawn: { trace: Trace; listeners: Listeners } | null = null; // the last one
  let player: ReturnType<typeof mountPlayer> | null = null;
  let grid: ReturnType<typeof openHeadGrid> | null = null;
  let focused = Number.NEGATIVE_INFINITY; // when the player got the focus of the text box
  const view = () => grid ?? player;

  const drawPlayer = (trace: Trace, listeners: Listeners) => {
    grid?.destroy();
    grid = null;
    player?.listen(listeners);
    player?.update(trace);
    player ??= mountPlayer(place, trace, { plotly, ...listeners });
  };
  /** @param before language of the grid, whose sentences are written once */
  const drawGrid = (trace: Trace, listeners: Listeners, before: string | undefined) => {
    player?.destroy();
    player = null;
    if (before !== trace.header.language) {
      grid?.destroy();
      grid = null;
    }
    const payload = traceAsPayload(trace, sentences[trace.header.language].heads);
    grid?.listen(listeners);
    grid?.update(payload);
    grid ??= openHeadGrid(place, payload, { plotly, ...listeners });
  };
  const draw = (trace: Trace, listeners: Listeners, picture: ShownPicture) => {
    trace.header.strings = sentences[trace.header.language].player;
    const before = drawn?.trace.header.language;
    drawn = { trace, listeners };
    if (picture === "player") drawPlayer(trace, listeners);
    else drawGrid(trace, listeners, before);
  };
  /** What is looked at; undefined before the first trace. */
  const selection = () => view()?.selection();
  /** What another text keeps of the one on screen; that of another model has other heads. */
  const keptView = (sameModel: boolean) => {
    const now = selection();
    const flags = flagsOf((name) => now?.[name] ?? null);
    return sameModel ? { ...now, step: null, ahead: null, ...flags } : flags;
  };
  /** Show the trace that was drawn last, and what is selected of it, in this picture. */
  const turnTo = (picture: ShownPicture) => {
    if (!drawn || (picture === "player") === (player !== null)) return;
    const { trace, listeners } = drawn;
    Object.assign(trace.header.view, selection());
    draw(trace, listeners, picture);
  };

  /** Letters that follow a sent text at once are meant for its box, not for the keys of the player. */
  const typeOn = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const letter = key.length === 1 && !ctrlKey && !metaKey && !altKey;
    if (!letter || performance.now() - focused > TYPED_ON) return;
    event.stopPropagation();
    onTypedOn();
  };
  place.addEventListener("keydown", typeOn, { capture: true });

  return {
    draw,
    turnTo,
    selection,
    keptView,
    /** Show what a host shows of the trace that was drawn last. */
    follow: (host: ShownView) => {
      turnTo(host.picture);
      view()?.follow(host);
    },
    /** @param checks of the trace, which came without them */
    check: (checks: IntegrityCheck[]) => {
      if (drawn) drawn.trace.header.integrity = checks;
      view()?.check(checks);
    },
    /** What was asked for does not come: the picture waits no longer. */
    rest: () => view()?.listen({}),
    destroy: () => view()?.destroy(),
    /** Hand the keyboard from the text box to the player. */
    focus: () => {
      place.querySelector(".player" as "div")?.focus({ preventScroll: true });
      focused = performance.now();
    },
  };
}
