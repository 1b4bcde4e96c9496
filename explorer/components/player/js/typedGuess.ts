import { element, type Part } from "../../dom/js/element.ts";
import { guessToken, tokenHidden, weightsHidden } from "../../trace/js/guess.ts";
import { currentRow } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** A box to type the next token into, while it is guessed and neither a card nor a vote asks for it. */
export function createTypedGuess(context: TraceContext): Part {
  const { say } = context;
  const box = element("input", {
    class: "field",
    type: "text",
    testid: "typed-guess",
    "aria-label": say("typed_guess"),
    placeholder: say("typed_guess"),
    autocomplete: "off",
    maxlength: 60,
    pattern: "\\s*\\S+\\s*",
    title: say("typed_guess_title"),
  });
  const node = element("form", { class: "typed-guess" }, box);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!box.value.trim()) return;
    context.set(guessToken(context, box.value.trim()));
    box.value = "";
    context.root.focus({ preventScroll: true }); // → goes on
  });
  const draw = () => {
    const guessed = tokenHidden(context, currentRow(context)) && !weightsHidden(context);
    node.hidden = !guessed || context.asked.answer !== "" || context.classVotes;
  };
  return { element: node, views: [draw] };
}
