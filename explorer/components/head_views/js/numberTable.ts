import { element } from "../../dom/js/element.ts";
import { css, inkOn } from "../../page/js/palette.ts";
import { scaleColour, type ValueScale } from "./colourBar.ts";

/** A number of a table, null where there is none, as it is written, and what its title says. */
export interface NumberCell {
  value: number | null;
  written: Node | string;
  title: string;
}

/** Numbers on their colours, a row for each layer. */
export function numberTable(
  scale: ValueScale,
  {
    testid,
    caption,
    corner = "",
    columns,
    rows,
  }: {
    testid: string;
    caption: string;
    corner?: string;
    columns: string[];
    rows: { layer: number; cells: NumberCell[] }[];
  },
) {
  const first = element(
    "tr",
    {},
    element("td", { class: "corner" }, corner),
    ...columns.map((name) => element("th", { scope: "col" }, name)),
  );
  const lines = rows.map(({ layer, cells }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `L${layer}`),
      ...cells.map((cell) => numberCell(scale, cell)),
    ),
  );
  return element("table", { testid }, element("caption", {}, caption), first, ...lines);
}

function numberCell(scale: ValueScale, { value, written, title }: NumberCell) {
  const cell = element("td", { class: "number", title }, written);
  if (value !== null) {
    const colour = scaleColour(scale, value);
    cell.style.background = css(colour);
    cell.style.color = inkOn(colour);
  }
  return cell;
}
