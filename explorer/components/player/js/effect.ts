import { element, type Part, write } from "../../dom/js/element.ts";
import { linesOf } from "../../trace/js/editing.ts";
import { headsName } from "../../trace/js/interventions.ts";
import { isSpecial, tokenElement } from "../../trace/js/label.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { readIntervention } from "../../trace/js/verbs.ts";
import { commonTokens } from "./commonTokens.ts";

const MOST_NAMED = 2; // removed heads, one by one

/** In large type, what the model writes with the interventions in force, or that nothing changes. */
export function createEffect(context: TraceContext): Part {
  const { say, state } = context;
  const said = element("span", {});
  const output = element("span", { class: "effect-output" });
  const attributes = { class: "effect", testid: "effect", role: "status", hidden: true };
  const node = element("p", attributes, said, " ", output);
  const draw = () => {
    const { view, facts, original } = context.trace.header; // a trace in words has its own original
    const before = original ?? view.original;
    const changes = linesOf(context);
    const asks = state.guess !== null || context.asked.answer !== ""; // which the output would tell
    node.hidden = asks || !changes.length || !before.length || Boolean(facts.given);
    if (node.hidden) return;
    const how = howChanged(context, changes);
    const [, inNow] = commonTokens(before, context.trace.predicted);
    const same = before.join("\n") === context.trace.predicted.join("\n");
    write(said, say(same ? "effect_nothing" : "effect_writes", { how }));
    output.replaceChildren(...(same ? [] : outputOf(context, inNow)));
  };
  return { element: node, views: [draw] };
}

/** The whole output, also where what is ahead is hidden; what is new of it is marked. */
function outputOf({ trace }: TraceContext, known: boolean[]) {
  const first = Math.max(trace.prompt - 1, 0);
  return trace.predicted.slice(first).flatMap((token, at) => {
    const marked = { class: known[first + at] ? "" : "differs" };
    return isSpecial(token) ? [] : [tokenElement(token, marked), " "];
  });
}

/** "Without Cross L1 H2", or "With these changes". */
function howChanged({ say, pieces }: TraceContext, lines: string[]) {
  const read = lines.flatMap((line) => readIntervention(line) ?? []);
  const heads = read.filter((one) => one.verb === "ablate");
  if (heads.length < read.length) return say("effect_changes");
  if (heads.length > MOST_NAMED) return say("effect_heads", { count: heads.length });
  const names = heads.map((one) => headsName(one, say, pieces.sites));
  return say("effect_head", { heads: names.join(", ") });
}
