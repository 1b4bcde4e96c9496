import type { Part } from "../../dom/js/element.ts";
import type { Described, ShownMoment } from "../../page/js/classEvents.ts";
import { createSpeaker } from "../../page/js/classSpeaker.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment, type RunData } from "./runData.ts";

/** Of a trace, which a training is not. */
const NO_TRACE = {
  visit: {},
  trace: "",
  picture: "player",
  selection: {},
  shown: {},
  question: null,
};

/** The host's replay says which run, moment and head it shows. */
export function createClassMoment(context: ReplayContext): Pick<Part, "views"> {
  if (!context.run.shared) return {};
  let known = "";
  let revision = 0;
  const describe = () => {
    const training = { ...context.run.shared, revision, ...shownMoment(context) };
    return { ...NO_TRACE, training } as unknown as Described;
  };
  const say = createSpeaker(context.signal, describe);
  const tell = () => {
    const state = stateOf(context.run);
    if (state !== known) revision = Date.now();
    known = state;
    say();
  };
  return { views: [tell] };
}

/** What guests are told of at once; the steps between two moments are not. */
function stateOf({ key, moments, others, report }: RunData) {
  const last = [moments, ...others.map((other) => other.moments)].map((some) => some.at(-1)?.step);
  return JSON.stringify([key, last, report.words, report.problem]);
}

function shownMoment({ run, state, picture }: ReplayContext): ShownMoment {
  const { site = run.site, layer = null, head = null } = picture?.state ?? {};
  const newest = state.at === run.moments.length - 1;
  return {
    moment: newest ? null : (run.moments[state.at]?.step ?? null),
    site,
    ...(state.headChosen || site !== run.site ? { layer, head } : { layer: null, head: null }),
  };
}

/** A guest's replay shows the moment and the head that the host's shows. */
export function followMoment(context: ReplayContext, { moment, site, layer, head }: ShownMoment) {
  const { moments, report } = context.run;
  const chosen = layer === null || head === null ? { site } : { site, layer, head };
  context.act.pause();
  context.set({
    at: moment === null ? moments.length - 1 : nearestMoment(moments, moment),
    following: moment === null && report.going,
    headChosen: "head" in chosen,
    hinted: true,
  });
  context.choose(chosen);
}
