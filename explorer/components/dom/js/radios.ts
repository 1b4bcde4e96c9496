import { assign, buttonElement, element } from "./element.ts";
import { followArrows, markStop } from "./roving.ts";
import type { Say } from "./sentences.ts";

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
    buttonElement(
      () => choose(name),
      { role: "radio", testid: `${prefix}-${name}`, title: say(`${prefix}_${name}_title`) },
      say(`${prefix}_${name}`),
    ),
  ];
  const choices = names.map(button);
  const node = element(
    "div",
    { class: small ? "segments small" : "segments", role: "radiogroup", "aria-label": say(label) },
    ...choices.map(([, one]) => one),
  );
  const buttons = Object.fromEntries(choices);
  const all = choices.map(([, one]) => one);
  const enabled = () =>
    all.filter((one) => one.getAttribute("aria-disabled") === null && !one.hidden);
  followArrows(node, enabled, { round: true });
  const check = (chosen: string) => {
    for (const [name, one] of choices)
      assign(one, "aria-checked", name === chosen ? "true" : "false");
    markStop(all, buttons[chosen]);
  };
  return { element: node, buttons, check };
}
