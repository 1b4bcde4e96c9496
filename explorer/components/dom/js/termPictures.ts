import { drawn } from "./drawing.ts";

/** Where a technical word is seen in maps of four queries and four keys: rows of maps, # filled. */
const MAPS: Record<string, string[][]> = {
  term_query: [["....####........"]],
  term_key: [[".#...#...#...#.."]],
  weight: [["......#........."]],
  term_mask: [[".###..##...#...."]],
  term_padding: [["...#...#...#...#"]],
  term_head: [["#....#....#....#", "...#..#..#..#...", "#...#...#...#..."]],
  term_layer: [
    ["#....#....#....#", "...#..#..#..#..."],
    ["#...#...#...#...", ".#....#....#...#"],
  ],
};

type Place = [line: 0 | 1, token: number]; // the source's line is the first
type Link = [from: Place, to: Place];

/** Who looks at whom: tokens of the source above, of the target below. */
const LINKS: Record<string, Link[]> = {
  site_encoder: [link(0, 0, 0, 2), link(0, 1, 0, 0), link(0, 3, 0, 2)],
  site_decoder: [link(1, 1, 1, 0), link(1, 2, 1, 1), link(1, 3, 1, 1)],
  site_cross: [link(1, 0, 0, 3), link(1, 1, 0, 2), link(1, 2, 0, 1), link(1, 3, 0, 0)],
};

const CELL = 12; // px
const MAP = 4 * CELL;
const BETWEEN_MAPS = 10; // px
const TOKEN = 26; // px from one token to the next
const DOT = 5; // px, half a token
const LINES = [18, 58]; // px from the top

function link(line: 0 | 1, token: number, otherLine: 0 | 1, other: number): Link {
  return [
    [line, token],
    [otherLine, other],
  ];
}

/** The picture of a technical word; undefined where a sentence is enough. */
export function termPicture(term: string): SVGElement | undefined {
  if (MAPS[term]) return mapsPicture(MAPS[term]);
  return LINKS[term] && linksPicture(LINKS[term]);
}

/** Small maps beside and below each other. */
function mapsPicture(rows: string[][]) {
  const step = MAP + BETWEEN_MAPS;
  const cells = rows.flatMap((maps, row) =>
    maps.flatMap((map, column) =>
      [...map].map((cell, index) => {
        const x = column * step + (index % 4) * CELL;
        const y = row * step + Math.floor(index / 4) * CELL;
        const filled = cell === "#" && { class: "filled" };
        return drawn("rect", { x, y, width: CELL, height: CELL, ...filled });
      }),
    ),
  );
  return picture(rows[0].length * step, rows.length * step, cells);
}

/** Two lines of tokens, and who looks at whom. */
function linksPicture(links: Link[]) {
  const x = (token: number) => DOT + token * TOKEN;
  const tokens = LINES.flatMap((y, line) =>
    [0, 1, 2, 3].map((token) => {
      const used = links.flat().some(([own, place]) => own === line && place === token);
      return drawn("circle", { cx: x(token), cy: y, r: DOT, ...(used && { class: "filled" }) });
    }),
  );
  const curves = links.map(([[line, token], [otherLine, other]]) => {
    const bend = line === otherLine ? 16 : 0; // over the tokens between
    const middle = `${(x(token) + x(other)) / 2} ${(LINES[line] + LINES[otherLine]) / 2 - bend * 2}`;
    const path = `M${x(token)} ${LINES[line]} Q${middle} ${x(other)} ${LINES[otherLine]}`;
    return drawn("path", { d: path });
  });
  return picture(2 * DOT + 3 * TOKEN, LINES[1] + 2 * DOT, [...tokens, ...curves]);
}

function picture(width: number, height: number, parts: SVGElement[]) {
  const about = { class: "term-picture", width, height, "aria-hidden": "true" };
  return drawn("svg", about, ...parts);
}
