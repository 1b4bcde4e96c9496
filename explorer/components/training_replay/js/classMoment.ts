import type { Part } from "../../dom/js/element.ts";
import { anyOf } from "../../dom/js/store.ts";
import type { Described, ShownMoment } from "../../page/js/classEvents.ts";
import { createSpeaker } from "../../page/js/classSpeaker.ts";
import type { ProbePart } from "./probe.ts";
import type { ReplayContext } from "./replayContext.ts";
import type { RunData } from "./runData.ts";
import { nearestMoment } from "./runData.ts";

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
export function createClassMoment(context: ReplayContext, probe: ProbePart): Pick<Part, "update"> {
  if (!context.run.shared) return { update: () => {} };
  let known = "";
  let revision = 0;
  const describe = () => {
    const training = { ...context.run.shared, revision, ...shownMoment(context, probe) };
    return { ...NO_TRACE, training } as unknown as Described;
  };
  const say = createSpeaker(context.signal, describe);
  return {
    update: (changed) => {
      const state = stateOf(context.run);
      if (state !== known) revision = Date.now();
      known = state;
      if (anyOf(changed, "run", "at", "head", "headChosen")) say();
    },
  };
}

/** What guests are told of at once; the steps between two moments are not. */
function stateOf({ key, moments, others, report }: RunData) {
  const last = [moments, ...others.map((other) => other.moments)].map((some) => some.at(-1)?.step);
  return JSON.stringify([key, last, report.words, report.problem]);
}

function shownMoment({ run, state }: ReplayContext, probe: ProbePart): ShownMoment {
  const { site = "cross", layer = null, head = null } = probe.shown();
  const newest = state.at === run.moments.length - 1;
  return {
    moment: newest ? null : (run.moments[state.at]?.step ?? null),
    site,
    ...(state.headChosen || site !== "cross" ? { layer, head } : { layer: null, head: null }),
  };
}

/** A guest's replay shows the moment and the head that the host's shows. */
export function followMoment(
  context: ReplayContext,
  probe: ProbePart,
  { moment, site, layer, head }: ShownMoment,
) {
  const { moments, report } = context.run;
  const chosen = layer === null || head === null ? { site } : { site, layer, head };
  context.act.pause();
  context.set({
    at: moment === null ? moments.length - 1 : nearestMoment(moments, moment),
    following: moment === null && report.going,
    headChosen: "head" in chosen,
    hinted: true,
  });
  context.lastProbe = () => chosen; // where there is no picture yet
  probe.choose(chosen);
}
