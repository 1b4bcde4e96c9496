import { element } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";

/**
 * A labelled select; `offer` sets its choices, as [value, text], the chosen one, and a hint on it.
 */
export function createSelect(say: Say, name: string, choose: (value: string) => void) {
  const select = element("select", {
    class: "field",
    testid: name,
    title: say(`${name}_title`),
    on: { change: () => choose(select.value) },
  });
  const node = element("label", { class: "choice row" }, say(name), select);
  let known = "";
  const offer = (choices: [string, string][], chosen: string, hint = "") => {
    const next = JSON.stringify(choices);
    if (next !== known)
      select.replaceChildren(...choices.map(([value, text]) => element("option", { value }, text)));
    known = next;
    select.value = chosen;
    select.title = [say(`${name}_title`), hint].filter(Boolean).join(". ");
  };
  return { element: node, offer };
}
