import { assign, element, type Part, populate, write } from "../../dom/js/element.ts";
import type { ReplayContext } from "./replayContext.ts";

/** What a translation model writes at this moment for a few held-out sentences. */
export function createSamples(context: ReplayContext): Part {
  const list = element("ol", {
    class: "samples",
    testid: "samples",
    title: context.say("samples_title"),
  });
  assign(list, "aria-label", context.say("samples"));
  const draw = () => {
    const { samples, moments } = context.run;
    const written = moments[context.state.at]?.written ?? [];
    const rows = populate(list, samples.length, sampleRow);
    samples.forEach((sample, index) => {
      writeSample(context, rows[index], sample, written[index]);
    });
  };
  return { element: list, views: [draw] };
}

/** A sentence, its translation by the model, and a reference. */
function sampleRow() {
  const part = (name: string) => element("bdi", { class: name });
  return element("li", { class: "sample" }, part("source"), part("written"), part("reference"));
}

/**
 * Fill a row.
 * @param text undefined where the line of the moment is damaged
 */
function writeSample(
  { say }: ReplayContext,
  row: HTMLElement,
  sample: { source: string; reference: string },
  text: string | undefined,
) {
  const [source, written, reference] = row.children;
  write(source, sample.source);
  write(written, text || say("empty"));
  write(reference, sample.reference);
  row.classList.toggle("same", text === sample.reference);
  assign(written, "title", text);
}
