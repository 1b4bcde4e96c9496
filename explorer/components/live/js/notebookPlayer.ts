/** The player in the frame that `notebookFrame.ts` makes, with the widget of the notebook. */

import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import { mountPlayer } from "../../player/js/player.ts";
import { flagsOf } from "../../trace/js/initialState.ts";
import { wordsOf } from "../../trace/js/lookAddress.ts";
import { readTrace } from "../../trace/js/trace.ts";
import { Refusal } from "../../trace/js/traceQuestions.ts";
import type { LiveRequest } from "./modelWorker.ts";
import type { WidgetFrame } from "./notebookFrame.ts";
import { playerListeners } from "./playerListeners.ts";

const TRAITS = ["site", "layer", "head", "step", "cell"] as const; // that follow the picture

/** What Python sends: an answer to the question with this number, or why there is none. */
interface Reply {
  id: number | null; // null for a change
  refused?: string; // a sentence
}

type Waiting = { resolve: (bytes: Uint8Array) => void; reject: (why: Refusal) => void };

const widget = (window.frameElement as WidgetFrame).widget;
const ended = new AbortController();
window.addEventListener("pagehide", () => ended.abort());

/** Listen to the widget as long as the frame is there: the widget may be shown in several. */
function listen(event: string, listener: (...told: never[]) => void) {
  widget.on(event, listener);
  ended.signal.addEventListener("abort", () => widget.off(event, listener));
}

function bytesOf(view: DataView) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

let payload: DataView; // of the trace on screen
let telling = false; // whether traits are set, one after the other, to what the picture shows

function readPayload() {
  payload = widget.get("_payload") as DataView;
  return readTrace(bytesOf(payload));
}

const questions = new Map<number, Waiting>();

/** Ask Python about the trace on screen; an object for each trace, as answers are kept by it. */
function createResources() {
  const fetch = (question: string, place: string) =>
    new Promise<Uint8Array>((resolve, reject) => {
      const id = Math.random(); // several frames may ask
      questions.set(id, { resolve, reject });
      widget.send({ id, question, place });
    });
  return { held: null, fetch };
}

/** What a press on a token, a head or a cell asks for: the trace of the changed request. */
function createListeners() {
  const request = widget.get("_request") as LiveRequest;
  const state = { asked: { request, view: {} }, onScreen: { word: "", request, hint: "" } };
  const link = (now: ReturnType<typeof player.selection>) => {
    telling = true;
    for (const name of TRAITS) widget.set(name, now[name]);
    telling = false;
    widget.save_changes();
  };
  const selection = () => player.selection();
  const keptView = () => flagsOf((name) => selection()[name]);
  const ask = (asked: object) => widget.send({ asked });
  return {
    ...playerListeners(request, state, { ask, link, picture: { selection, keptView } }),
    resources: createResources(),
  };
}

const problem = document.getElementById("problem") as HTMLElement;
const player = mountPlayer(document.getElementById("player") as HTMLElement, readPayload(), {
  plotly: embeddedPlotly,
  alone: true,
  resources: createResources(),
});
player.listen(createListeners());

/** Show what the traits say, unless the picture tells them or another trace comes with them. */
function followTraits() {
  if (telling || widget.get("_payload") !== payload) return;
  const shown = player.selection();
  const wanted = Object.fromEntries(TRAITS.map((name) => [name, widget.get(name)]));
  const same = TRAITS.every((name) => JSON.stringify(wanted[name]) === JSON.stringify(shown[name]));
  if (!same) player.follow({ query: wordsOf({ ...shown, ...wanted }), guess: null });
}

listen("change:_payload", () => {
  problem.textContent = "";
  player.listen(createListeners());
  player.update(readPayload());
});
for (const name of TRAITS) listen(`change:${name}`, followTraits);
listen("msg:custom", ({ id, refused }: Reply, [buffer]: DataView[]) => {
  if (id === null) {
    problem.textContent = refused ?? "";
    player.listen({}); // the picture waits no longer
    return;
  }
  const waiting = questions.get(id);
  questions.delete(id);
  if (refused === undefined) waiting?.resolve(bytesOf(buffer));
  else waiting?.reject(new Refusal(refused));
});
followTraits(); // they may have changed since the trace was made
