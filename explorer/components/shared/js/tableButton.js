import { element } from "./element.js";
import { saveTable } from "./savedFile.js";

/** @import { Say } from "./sentences.js" */

/**
 * The button that saves a table as CSV.
 * @param {Say} say of the sentences of the player
 * @param {object} given
 * @param {() => string | null} given.table null as long as there is nothing to save
 * @param {() => string} given.fileName without its ending
 * @param {string} [given.prefix] of the test id
 * @param {string} [given.title] what is saved; without one, the shown weights
 * @returns {HTMLButtonElement}
 */
export function tableButton(say, { table, fileName, prefix = "", title = say("csv_title") }) {
  const click = () => {
    const text = table();
    if (text) saveTable(`${fileName()}.csv`, text);
  };
  const looks = { type: "button", class: "quiet save", testid: `${prefix}csv` };
  return element("button", { ...looks, title, on: { click } }, say("csv"));
}
