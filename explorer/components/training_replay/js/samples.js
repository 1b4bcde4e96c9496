import { assign, element, populate, write } from "../../shared/js/element.js";
import { anyOf } from "../../shared/js/store.js";

/** @import { Part } from "../../shared/js/element.js" */
/** @import { ReplayContext } from "./replayContext.js" */

/**
 * What a translation model writes at this moment for a few held-out sentences.
 * @param {ReplayContext} context
 * @returns {Part}
 */
export function createSamples(context) {
  const list = element("ol", {
    class: "samples",
    testid: "samples",
    title: context.say("samples_title"),
  });
  assign(list, "aria-label", context.say("samples"));
  /** @param {Set<string>} changed */
  const update = (changed) => {
    if (!anyOf(changed, "run", "at")) return;
    const { samples, moments } = context.run;
    const written = moments[context.state.at]?.written ?? [];
    const rows = populate(list, samples.length, sampleRow);
    samples.forEach((sample, index) => {
      writeSample(context, rows[index], sample, written[index]);
    });
  };
  return { element: list, update };
}

/** A sentence, its translation by the model, and a reference. */
function sampleRow() {
  /** @param {string} name */
  const part = (name) => element("bdi", { class: name });
  return element("li", { class: "sample" }, part("source"), part("written"), part("reference"));
}

/**
 * Fill a row.
 * @param {ReplayContext} context
 * @param {HTMLElement} row
 * @param {{source: string, reference: string}} sample
 * @param {string | undefined} text undefined where the line of the moment is damaged
 */
function writeSample({ say }, row, sample, text) {
  const [source, written, reference] = row.children;
  write(source, sample.source);
  write(written, text || say("empty"));
  write(reference, sample.reference);
  row.classList.toggle("same", text === sample.reference);
  assign(written, "title", text);
}
