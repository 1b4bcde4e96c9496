import { buttonElement } from "./element.ts";
import { saveTable } from "./savedFile.ts";
import type { Say } from "./sentences.ts";

/**
 * The button that saves a table as CSV.
 * @param say of the sentences of the player
 * @param given.table null as long as there is nothing to save
 * @param given.fileName without its ending
 * @param given.prefix of the test id
 * @param given.title what is saved; without one, the shown weights
 */
export function tableButton(
  say: Say,
  {
    table,
    fileName,
    prefix = "",
    title = say("csv_title"),
  }: { table: () => string | null; fileName: () => string; prefix?: string; title?: string },
): HTMLButtonElement {
  const click = () => {
    const text = table();
    if (text) saveTable(`${fileName()}.csv`, text);
  };
  const testid = `${prefix}csv`;
  return buttonElement(click, { class: "quiet save", testid, title }, say("csv"));
}
