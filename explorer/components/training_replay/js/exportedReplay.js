import { embeddedPlotly } from "../../player/js/embeddedPlotly.js";
import { bytesOf } from "../../player/js/pageResources.js";
import { addressInFragment } from "./address.js";
import { readRunData } from "./runData.js";
import { mountTrainingReplay } from "./trainingReplay.js";

/** @param {string} id */
function found(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} address of a probe trace, which the page holds */
async function probe(address) {
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
