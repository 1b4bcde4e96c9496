/**
 * The static site's page of trainings: it opens on a recorded one, and Start trains a model in this
 * browser, which the same replay shows.
 */

import { phasesOf, write } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { saveFile } from "../../dom/js/savedFile.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import { createScreen, createStore } from "../../dom/js/store.ts";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import { bytesOf } from "../../player/js/pageResources.ts";
import { wordsOf } from "../../trace/js/lookAddress.ts";
import { addressInFragment } from "../../training_replay/js/address.ts";
import type { ReplayListeners } from "../../training_replay/js/replayContext.ts";
import { type RunData, readRunData, runKind } from "../../training_replay/js/runData.ts";
import { mountTrainingReplay } from "../../training_replay/js/trainingReplay.ts";
import { type HandedModel, handModel } from "./handedModel.ts";
import { createOwnTraining, type OwnTraining } from "./ownTraining.ts";
import { createSharing } from "./sharedCurve.ts";
import { createStartBar } from "./startBar.ts";
import { isAtRisk, isGoing, nameOf, runOf, type Training, trainedModel } from "./trainedRun.ts";

type PageRun = RunData & { trainer: Strings }; // a recorded run, with the sentences of the trainer

const IN_CLASS = document.documentElement.hasAttribute("data-class");

function found(id: string) {
  return document.getElementById(id) as HTMLElement;
}

/** @param address of a probe trace of the recorded run, which the page holds */
async function recordedProbe(address: string) {
  const node = document.querySelector(`script[data-probe="${CSS.escape(address)}"]`);
  if (!(node instanceof HTMLElement)) throw new Error(`no probe trace ${address}`);
  return bytesOf(node);
}

function openPage({ trainer: sentences, ...recorded }: PageRun) {
  const { language } = recorded;
  const { values: state, set } = createStore({
    ...{ going: false, trained: false, blocked: false, unshared: false },
  });
  const sharing = createSharing((taken) => set({ unshared: !taken }));
  const own = createOwnTraining((training) => show(training));
  const keep = createKeeping(own);
  /** @param view parameters of the address */
  const open = (view: Record<string, string> = {}) =>
    set({ blocked: !keep((model) => handModel(model, { ...view, lang: language })) });
  const save = () =>
    keep(({ name, file }) => {
      saveFile(`${name}.safetensors`, new Blob([file]));
      return true;
    });
  const onCell: ReplayListeners["onCell"] = ({ text, query, key, ...head }) =>
    open({ text, ...wordsOf({ ...head, cell: [query, key] }) });

  const share = IN_CLASS ? sharing.agree : undefined;
  const actions = { start: own.start, stop: own.stop, open, save, share };
  const bar = createStartBar(state, actions, (key) => fillIn(sentences, key));
  found("player").before(bar.element);
  onResize([bar.element], new AbortController().signal, () =>
    document.body.style.setProperty("--bar-height", `${bar.element.offsetHeight}px`),
  );
  createScreen().show(phasesOf([bar]));
  const source = {
    probe: async (address: string) => own.probe(address) ?? recordedProbe(address),
    plotly: embeddedPlotly,
  };
  const mount = (run: RunData) =>
    mountTrainingReplay(found("player"), run, { onLink: () => {}, onCell }, source);
  let [replay, kind] = [mount(recorded), runKind(recorded)];
  const showRun = (run: RunData) => {
    if (kind === runKind(run)) return replay.update(run);
    replay.destroy();
    [replay, kind] = [mount(run), runKind(run)];
  };
  const show = (training: Training) => {
    const title = fillIn(sentences, "title", { name: nameOf(training.settings) });
    write(document.querySelector("h1") as HTMLElement, title);
    document.title = title;
    document.body.toggleAttribute("data-trained", true);
    set({ going: isGoing(training), trained: training.moments.length > 0, blocked: false });
    showRun(runOf(training, { ...recorded, sentences }));
    sharing.follow(training);
  };
}

/**
 * What keeps the latest model; before a page goes that has another one, the browser asks.
 * @returns whether `hand` took the model, or there is none
 */
function createKeeping(own: OwnTraining) {
  let kept: Training | null = null;
  window.addEventListener("beforeunload", (event) => {
    if (isAtRisk(own.latest(), kept)) event.preventDefault();
  });
  return (hand: (model: HandedModel) => boolean) => {
    const training = own.latest();
    const model = training && trainedModel(training);
    const taken = !model || hand(model);
    if (model && taken) kept = training;
    return taken;
  };
}

async function start() {
  openPage(readRunData(await bytesOf(found("payload"))) as PageRun);
}

addressInFragment();
start();
