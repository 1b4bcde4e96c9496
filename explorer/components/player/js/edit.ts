/** The button that begins and ends Edit, and what is offered while it is on. */

import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { readEnvelope } from "../../page/js/envelope.ts";
import { apply, canEdit, type EditNote, linesOf, showEdit } from "../../trace/js/editing.ts";
import { MOST_INTERVENTIONS, type OMISSIONS, VERBS } from "../../trace/js/look.ts";
import type { SiteName } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { fetchAnswer, offers } from "../../trace/js/traceQuestions.ts";
import { drawTokens } from "./drawTokens.ts";

type DecisiveHead = { site: SiteName; layer: number; head: number };

/** Begins and ends Edit. */
export function createEditButton(context: TraceContext): Part {
  const { say, root } = context;
  const button = buttonElement(
    () => showEdit(context, !context.state.edit),
    { class: "quiet", testid: "edit", title: say("edit_title") },
    say("edit"),
  );
  const draw = () => {
    const { edit } = context.state;
    button.hidden = !canEdit(context);
    assign(button, "aria-pressed", String(edit));
    root.toggleAttribute("data-edit", edit);
  };
  return { element: button, views: [draw] };
}

/** While Edit is on: what can be pressed in the picture, and experiments of one press. */
export function createEditBar(context: TraceContext): Part {
  const { say } = context;
  const note = element("p", { class: "edit-note", testid: "edit-note", role: "status" });
  const tries = [
    tryHead(context),
    tryWithout(context, "mask", () => context.pieces.header.facts.config?.causal !== false),
    tryWithout(context, "positions", () => true),
    drawTokens(context),
  ];
  const node = element(
    "div",
    { class: "edit-bar row wrap", testid: "edit-bar" },
    note,
    ...tries.map((part) => part.element),
  );
  const draw = () => {
    const { edit, editNote } = context.state;
    node.hidden = !edit;
    const facts = { limit: MOST_INTERVENTIONS, most: VERBS.draw.k.most };
    write(note, edit ? say(editNote || "edit_hint", facts) : "");
    assign(note, "data-refused", editNote ? "" : null);
  };
  return { element: node, views: [draw, ...tries.flatMap(({ views = [] }) => views)] };
}

/** Removes the head that the output depends on most. The map stays, wherever that head is. */
function tryHead(context: TraceContext): Part {
  const { say } = context;
  const press = async () => {
    const { generation } = context;
    button.disabled = true;
    const found = await decisiveHead(context);
    button.disabled = false;
    if (generation !== context.generation) return; // another text is on screen
    if (typeof found === "string") apply(context, found);
    else {
      const { site, layer, head } = found;
      apply(context, { add: [`ablate ${site}.${layer}.${head}`], remove: [] });
    }
  };
  const attributes = { testid: "try-head", title: say("try_head_title") };
  const button = buttonElement(press, attributes, say("try_head"));
  const draw = () => {
    button.hidden = !offers(context, "decisive");
  };
  return { element: button, views: [draw] };
}

async function decisiveHead(context: TraceContext): Promise<DecisiveHead | EditNote> {
  try {
    return readEnvelope<DecisiveHead>(await fetchAnswer(context, "decisive", "")).header;
  } catch {
    return "edit_failed";
  }
}

/**
 * Leaves a part out of the whole model, and puts it back. The mask is looked for in the decoder, whose
 * picture is shown whole.
 */
function tryWithout(
  context: TraceContext,
  part: (typeof OMISSIONS)[number],
  has: () => boolean,
): Part {
  const { say } = context;
  const line = `omit ${part}`;
  const press = () => {
    const inForce = linesOf(context).includes(line);
    if (part === "mask" && !inForce) {
      context.act.chooseSite("decoder");
      context.set({ ahead: true });
    }
    apply(context, inForce ? { add: [], remove: [line] } : { add: [line], remove: [] });
  };
  const attributes = { testid: `try-${part}`, title: say(`without_${part}_title`) };
  const button = buttonElement(press, attributes, say(`try_${part}`));
  const draw = () => {
    button.hidden = !offers(context, "without") || !has();
    assign(button, "aria-pressed", String(linesOf(context).includes(line)));
  };
  return { element: button, views: [draw] };
}
