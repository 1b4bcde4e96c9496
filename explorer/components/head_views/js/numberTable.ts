import { element } from "../../dom/js/element.ts";
import { css, inkOn } from "../../page/js/palette.ts";
import { scaleColour, type ValueScale } from "./colourBar.ts";

/** A number of a layer, null where there is none, as it is written, and what its title says. */
export interface NumberCell {
  layer: number;
  value: number | null;
  written: Node | string;
  title: string;
}

/**
 * Numbers on their colours, a row for each layer.
 * @param given.columns their names; those of heads where none are given
 */
export function numberTable(
  scale: ValueScale,
  {
    testid,
    caption,
    corner = "",
    columns,
    cells,
  }: {
    testid: string;
    caption: string;
    corner?: string;
    columns?: string[];
    cells: NumberCell[];
  },
) {
  const layers = [...new Set(cells.map(({ layer }) => layer))];
  const rows = layers.map((layer) => cells.filter((cell) => cell.layer === layer));
  const most = Math.max(...rows.map(({ length }) => length));
  const names = columns ?? Array.from({ length: most }, (_, head) => `H${head}`);
  const first = element(
    "tr",
    {},
    element("td", { class: "corner" }, corner),
    ...names.map((name) => element("th", { scope: "col" }, name)),
  );
  const lines = rows.map((row) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, `L${row[0].layer}`),
      ...row.map((cell) => numberCell(scale, cell)),
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
