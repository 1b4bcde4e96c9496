import { buttonElement, element, write } from "../../dom/js/element.ts";
import { reachOf } from "../../trace/js/contributions.ts";
import { scaleOf } from "../../trace/js/scale.ts";
import { layerNumber, shownMethod, shownName, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/**
 * What a map of contributions is of, other than the bars beside it and the weights before; how well
 * the other methods agree with leave-one-out here; and the way back.
 */
export function createContributionNote(context: TraceContext) {
  const { say } = context;
  const text = element("p", { class: "share-note", testid: "contribution-note" });
  const agreement = element("p", { class: "share-note", testid: "contribution-agreement" });
  const back = buttonElement(() => context.act.select({ shows: "weight", hover: null }), {
    class: "quiet",
    testid: "weights-again",
    title: say("weights_again_title"),
  });
  const draw = () => {
    const { layer, head } = context.state;
    write(text, noteOf(context));
    const found = agreementOf(context);
    agreement.hidden = found === "";
    write(agreement, found);
    write(back, say("weights_again", { head: shownName(context, layer, head) }));
  };
  return { element: element("div", {}, text, agreement, back), draw };
}

function noteOf(context: TraceContext) {
  const { say, state, trace } = context;
  const method = shownMethod(context);
  if (!method) return say("contribution_note_encoder");
  const reach = reachOf(method);
  const layer = layerNumber(context, state.layer);
  const bars = reach !== "whole" && trace.contributions.sourceShare(method) !== null;
  const root = state.scale === null && scaleOf(state, siteOf(context)) === "sqrt";
  const notes = [
    ...(bars ? [say("contribution_note_bars")] : []),
    say(`contribution_note_${reach}`, { layer }),
    ...(root ? [say("contribution_note_root")] : []),
  ];
  return notes.join(" ");
}

/**
 * In how many steps of this text methods have the same largest source token as leave-one-out, in a
 * decoder alone of the prefix; "" where that is not on screen.
 */
function agreementOf(context: TraceContext) {
  const { say, pieces } = context;
  if (shownMethod(context) !== "leave_one_out") return "";
  const found = pieces.contributions.agreement();
  const named = found.map(([method, rows]) => `${say(`agreeing_${method}`)} ${rows}`);
  return say(pieces.prompt ? "prefix_agreement" : "contribution_agreement", {
    steps: pieces.steps,
    methods: named.join(say("agreement_join")),
  });
}
