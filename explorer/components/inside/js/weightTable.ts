import { assign, element, populate, write } from "../../dom/js/element.ts";
import { shortWeight } from "../../dom/js/numbers.ts";
import { labelOf } from "../../trace/js/label.ts";
import { scrollToCurrent } from "./scroll.ts";

/** The weights of one head. */
export interface Weights {
  queries: readonly string[]; // labels of the rows that are shown
  keys: readonly string[]; // labels
  row: (query: number) => { weights: ArrayLike<number>; masked: ArrayLike<number> };
  signed?: boolean; // whether they are differences, around 0
}

const MOST_NUMBERS = 12; // keys up to which a cell has its number

/** The weights of a head as a table with their labels; rows are queries. */
export function createWeightTable(testid: string) {
  const caption = element("caption", {});
  const head = element("tr", {});
  const body = element("tbody", {});
  const table = element("table", { testid }, caption, element("thead", {}, head), body);
  const node = element("div", { class: "weight-table" }, table);
  const draw = (
    title: string,
    { queries, keys, row, signed = false }: Weights,
    current: number,
  ) => {
    write(caption, title);
    const headings = populate(head, keys.length + 1, () => element("th", { scope: "col" }));
    headings.forEach((heading, column) => {
      const label = column ? labelOf(keys[column - 1]) : "";
      write(heading, label);
      heading.title = label; // a long one is cut
    });
    const lines = populate(body, queries.length, () => element("tr", {}));
    lines.forEach((line, query) => {
      line.classList.toggle("current", query === current);
      drawRow(line, labelOf(queries[query]), keys.length, row(query), signed);
    });
    requestAnimationFrame(() => scrollToCurrent(node, lines[current]?.firstElementChild));
  };
  return { element: node, draw };
}

function drawRow(
  line: HTMLElement,
  label: string,
  keys: number,
  { weights, masked }: ReturnType<Weights["row"]>,
  signed: boolean,
) {
  const cells = populate(line, keys + 1, (column) =>
    element(column ? "td" : "th", column ? {} : { scope: "row" }),
  );
  write(cells[0], label);
  for (let key = 0; key < keys; key += 1) {
    const cell = cells[key + 1];
    assign(cell, "data-masked", masked[key] || null);
    const size = Math.abs(weights[key]);
    const sign = !signed ? "" : weights[key] < 0 ? "−" : "+";
    cell.classList.toggle("strong", size > 0.5);
    cell.classList.toggle("less", signed && weights[key] < 0);
    cell.classList.toggle("more", signed && weights[key] > 0);
    cell.style.setProperty("--share", String(size));
    cell.title = sign + shortWeight(size);
    const shown = keys <= MOST_NUMBERS && !masked[key] && size >= 0.005;
    write(cell, shown ? sign + shortWeight(size) : "");
  }
}
