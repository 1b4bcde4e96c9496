import { placeOnPage } from "../../page/js/onPage.ts";
import type { PictureOnPage, ShownMoment } from "../../page/js/pictureOnPage.ts";
import { pictureQuestion, revealPicture } from "./pictureGuess.ts";
import type { ReplayContext } from "./replayContext.ts";
import { nearestMoment, type RunData } from "./runData.ts";

/** Of a trace, which a training is not. */
const NO_TRACE = { query: {}, guess: null, trace: "", picture: "player" } as const;

/** Put the training on the page, where the class tools find which run, moment and head it shows. */
export function placeTraining(context: ReplayContext) {
  let known = "";
  let revision = 0;
  const view = () => {
    const state = stateOf(context.run);
    if (state !== known) revision = Date.now();
    known = state;
    const { shared } = context.run;
    return shared
      ? { ...NO_TRACE, training: { ...shared, revision, ...shownMoment(context) } }
      : null;
  };
  const nothing = () => {};
  const placed: PictureOnPage = {
    ...{ view, question: () => pictureQuestion(context), reveal: () => revealPicture(context) },
    ...{ letGuess: nothing, closeCell: nothing },
    focus: () => context.root.focus({ preventScroll: true }),
  };
  placeOnPage("picture", placed, context.signal);
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
