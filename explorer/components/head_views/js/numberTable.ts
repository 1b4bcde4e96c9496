import { assign, buttonElement, element } from "../../dom/js/element.ts";
import { css, inkOn } from "../../page/js/palette.ts";
import { scaleColour, type ValueScale } from "./colourBar.ts";

/** A number of a table, null where there is none, as it is written, and what its title says. */
export interface NumberCell {
  value: number | null;
  text: string;
  title: string;
  name?: string; // of the button that it then is
}

/**
 * Numbers on their colours, a row for each layer.
 * @param given.choose what a click on a button does, by its name
 */
export function numberTable(
  scale: ValueScale,
  {
    testid,
    caption,
    corner,
    columns,
    rows,
    choose,
  }: {
    testid: string;
    caption: string;
    corner: string;
    columns: string[];
    rows: { layer: number; cells: NumberCell[] }[];
    choose?: (name: string) => void;
  },
) {
  const first = element("tr", {}, element("td", { class: "corner" }, corner));
  first.append(...columns.map((name) => element("th", { scope: "col" }, name)));
  const lines = rows.map(({ layer, cells }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `L${layer}`),
      ...cells.map((cell) => numberCell(scale, cell, choose)),
    ),
  );
  return element("table", { testid }, element("caption", {}, caption), first, ...lines);
}

function numberCell(
  scale: ValueScale,
  { value, text, title, name }: NumberCell,
  choose?: (name: string) => void,
) {
  const named = name !== undefined && choose;
  const button = named && buttonElement(() => choose(name), { "data-name": name }, text);
  if (button) assign(button, "aria-label", title);
  const cell = element("td", { class: "number" }, button || text);
  if (value !== null) {
    const colour = scaleColour(scale, value);
    cell.style.background = css(colour);
    cell.style.color = inkOn(colour);
  }
  assign(cell, "title", title);
  return cell;
}
