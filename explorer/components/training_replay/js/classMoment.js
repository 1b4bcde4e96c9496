import { createSpeaker } from "../../shared/js/classSpeaker.js";
import { anyOf } from "../../shared/js/store.js";
import { nearestMoment } from "./runData.js";

/** @import { Described, ShownMoment } from "../../shared/js/classEvents.js" */
/** @import { Part } from "../../shared/js/element.js" */
/** @import { ProbePart } from "./probe.js" */
/** @import { ReplayContext } from "./replayContext.js" */
/** @import { RunData } from "./runData.js" */

/** Of a trace, which a training is not. */
const NO_TRACE = {
  visit: {},
  trace: "",
  picture: "player",
  selection: {},
  shown: {},
  question: null,
};

/**
 * The host's replay says which run, moment and head it shows.
 * @param {ReplayContext} context
 * @param {ProbePart} probe
 * @returns {Pick<Part, "update">}
 */
export function createClassMoment(context, probe) {
  if (!context.run.shared) return { update: () => {} };
  let known = "";
  let revision = 0;
  const describe = () => {
    const training = { ...context.run.shared, revision, ...shownMoment(context, probe) };
    return /** @type {Described} */ (/** @type {unknown} */ ({ ...NO_TRACE, training }));
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

/**
 * What guests are told of at once; the steps between two moments are not.
 * @param {RunData} run
 */
function stateOf({ key, moments, others, report }) {
  const last = [moments, ...others.map((other) => other.moments)].map((some) => some.at(-1)?.step);
  return JSON.stringify([key, last, report.words, report.problem]);
}

/**
 * @param {ReplayContext} context
 * @param {ProbePart} probe
 * @returns {ShownMoment}
 */
function shownMoment({ run, state }, probe) {
  const { site = "cross", layer = null, head = null } = probe.shown();
  const newest = state.at === run.moments.length - 1;
  return {
    moment: newest ? null : (run.moments[state.at]?.step ?? null),
    site,
    ...(state.headChosen || site !== "cross" ? { layer, head } : { layer: null, head: null }),
  };
}

/**
 * A guest's replay shows the moment and the head that the host's shows.
 * @param {ReplayContext} context
 * @param {ProbePart} probe
 * @param {ShownMoment} shown
 */
export function followMoment(context, probe, { moment, site, layer, head }) {
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
