import { element } from "../../dom/js/element.ts";

/** @param describe value and text */
export function select<Choice>(
  label: string,
  testid: string,
  choices: Choice[],
  describe: (choice: Choice) => [string, string],
) {
  const options = choices.map((choice) => {
    const [value, text] = describe(choice);
    return element("option", { value }, text);
  });
  return element("select", { testid, "aria-label": label }, ...options);
}
