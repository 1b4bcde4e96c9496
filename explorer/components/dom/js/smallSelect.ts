import { assign, element } from "./element.ts";
import type { Say } from "./sentences.ts";

/**
 * A select in one line with others; its title says what the choice means.
 * @param group.names of the choices,
 *   under the sentences of their labels where there are several kinds
 * @param group.prefix of their sentences
 * @param group.label sentence that names the select, which is also its test id
 */
export function createSmallSelect(
  { root, say }: { root: HTMLElement; say: Say },
  {
    names,
    prefix = "",
    label,
  }: {
    names: readonly (string | { label: string; names: readonly string[] })[];
    prefix?: string;
    label: string;
  },
  choose: (name: string) => void,
) {
  const option = (value: string) =>
    element("option", { value, title: say(`${prefix}${value}_title`) }, say(`${prefix}${value}`));
  const select = element(
    "select",
    { class: "small-select field", testid: label, "aria-label": say(label) },
    ...names.map((one) =>
      typeof one === "string"
        ? option(one)
        : element("optgroup", { label: say(one.label) }, ...one.names.map(option)),
    ),
  );
  let byPointer = false;
  select.addEventListener("pointerdown", () => {
    byPointer = true;
  });
  select.addEventListener("change", () => {
    choose(select.value);
    if (byPointer) root.focus({ preventScroll: true }); // → steps, and chooses nothing
    byPointer = false;
  });
  const check = (name: string) => {
    select.value = name;
    assign(select, "title", say(`${prefix}${name}_title`));
  };
  /** Leave out the choices that are not offered at the moment. */
  const offer = (offers: (name: string) => boolean) => {
    for (const one of select.options) one.hidden = one.disabled = !offers(one.value);
    for (const group of select.querySelectorAll("optgroup"))
      group.hidden = [...group.children].every((one) => (one as HTMLOptionElement).hidden);
  };
  return { element: select, check, offer };
}
