import { element } from "../../shared/js/element.js";

/** @import { Say } from "../../shared/js/sentences.js" */

/**
 * A labelled select; `offer` sets its choices, as [value, text], the chosen one, and a hint on it.
 * @param {Say} say
 * @param {string} name
 * @param {(value: string) => void} choose
 */
export function createSelect(say, name, choose) {
  const select = element("select", {
    testid: name,
    title: say(`${name}_title`),
    on: { change: () => choose(select.value) },
  });
  const node = element("label", { class: "choice" }, say(name), select);
  let known = "";
  /** @type {(choices: [string, string][], chosen: string, hint?: string) => void} */
  const offer = (choices, chosen, hint = "") => {
    const next = JSON.stringify(choices);
    if (next !== known)
      select.replaceChildren(...choices.map(([value, text]) => element("option", { value }, text)));
    known = next;
    select.value = chosen;
    select.title = [say(`${name}_title`), hint].filter(Boolean).join(". ");
  };
  return { element: node, offer };
}
