import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import { bytesOf } from "../../player/js/pageResources.ts";
import { addressInFragment } from "./address.ts";
import { readRunData } from "./runData.ts";
import { mountTrainingReplay } from "./trainingReplay.ts";

function found(id: string) {
  return document.getElementById(id) as HTMLElement;
}

/** @param address of a probe trace, which the page holds */
async function probe(address: string) {
  const node = document.querySelector(`script[data-probe="${CSS.escape(address)}"]`);
  if (!(node instanceof HTMLElement)) throw new Error(`no probe trace ${address}`);
  return bytesOf(node);
}

async function show() {
  const run = readRunData(await bytesOf(found("payload")));
  const nothing = () => {};
  const listeners = { onLink: nothing, onCell: nothing };
  mountTrainingReplay(found("player"), run, listeners, { probe, plotly: embeddedPlotly });
}

addressInFragment();
show();
