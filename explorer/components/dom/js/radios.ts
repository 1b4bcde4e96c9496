import { assign, element } from "./element.ts";
import type { Say } from "./sentences.ts";

const MOVES: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * A radio group of buttons: one stop of the Tab key, arrow keys move inside.
 * @param group.names names of the choices
 * @param group.prefix prefix of their sentences and test ids
 * @param group.label sentence that names the group
 */
export function createRadios(
  say: Say,
  {
    names,
    prefix,
    label,
    small = false,
  }: { names: readonly string[]; prefix: string; label: string; small?: boolean },
  choose: (name: string) => void,
) {
  const button = (name: string): [string, HTMLButtonElement] => [
    name,
    element(
      "button",
      {
        type: "button",
        role: "radio",
        testid: `${prefix}-${name}`,
        title: say(`${prefix}_${name}_title`),
        on: { click: () => choose(name) },
      },
      say(`${prefix}_${name}`),
    ),
  ];
  const choices = names.map(button);
  const node = element(
    "div",
    { class: small ? "segments small" : "segments", role: "radiogroup", "aria-label": say(label) },
    ...choices.map(([, one]) => one),
  );
  node.addEventListener("keydown", (event) => moveChoice(choices, event, choose));
  const check = (chosen: string) => {
    for (const [name, one] of choices) {
      assign(one, "aria-checked", name === chosen ? "true" : "false");
      one.tabIndex = name === chosen ? 0 : -1;
    }
  };
  return { element: node, buttons: Object.fromEntries(choices), check };
}

/** An arrow key selects the next enabled choice, wrapping around, and does not step the player. */
function moveChoice(
  choices: [string, HTMLButtonElement][],
  event: KeyboardEvent,
  choose: (name: string) => void,
) {
  const by = MOVES[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const enabled = choices.filter(
    ([, button]) => button.getAttribute("aria-disabled") === null && !button.hidden,
  );
  const now = enabled.findIndex(([, button]) => button === event.target);
  const [name, button] = enabled[(now + by + enabled.length) % enabled.length];
  button.focus();
  choose(name);
}
