import { assign, element } from "./element.js";

/** @import { TraceContext } from "./traceContext.js" */

/**
 * A select in one line with others; its title says what the choice means.
 * @param {Pick<TraceContext, "root" | "say">} context
 * @param {object} group
 * @param {readonly (string | {label: string, names: readonly string[]})[]} group.names of the choices,
 *   under the sentences of their labels where there are several kinds
 * @param {string} [group.prefix] of their sentences
 * @param {string} group.label sentence that names the select, which is also its test id
 * @param {(name: string) => void} choose
 */
export function createSmallSelect({ root, say }, { names, prefix = "", label }, choose) {
  /** @param {string} value */
  const option = (value) =>
    element("option", { value, title: say(`${prefix}${value}_title`) }, say(`${prefix}${value}`));
  const select = element(
    "select",
    { class: "small-select", testid: label, "aria-label": say(label) },
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
  /** @param {string} name */
  const check = (name) => {
    select.value = name;
    assign(select, "title", say(`${prefix}${name}_title`));
  };
  return { element: select, check };
}
