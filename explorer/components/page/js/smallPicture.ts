import { element } from "../../dom/js/element.ts";

/** What the picture of a head may become. */
export type Picture = "diagonal" | "antidiagonal" | "scattered" | "ahead";

const SIZE = 6; // rows and columns of a picture
const SCATTERED = [3, 0, 4, 1, 5, 2]; // column of each row
const COLUMNS: Record<Picture, (row: number) => number> = {
  diagonal: (row) => row,
  antidiagonal: (row) => SIZE - 1 - row,
  scattered: (row) => SCATTERED[row],
  ahead: (row) => row + 1,
};

/** Whether a word is the name of a picture. */
export function isPicture(name: string): name is Picture {
  return name in COLUMNS;
}

/** The cells of a picture, row by row. */
export function cells(picture: Picture) {
  return Array.from({ length: SIZE * SIZE }, (_, place) => {
    const [row, column] = [Math.floor(place / SIZE), place % SIZE];
    return element("i", { class: COLUMNS[picture](row) === column ? "dark" : "" });
  });
}
