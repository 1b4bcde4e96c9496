/** What a spreadsheet calculates: these signs first, also after characters that are not seen. */
const FORMULA = /^[\p{Z}\p{C}\p{M}\u115f\u1160\u3164\uffa0\u2800]*[=+\-@−]/u;
const LINE_START = /^[\t\r\n]/;

/**
 * A text as a cell of a CSV file, with a ' in front of what a spreadsheet would take for a
 * formula; `core/csv_text.py` has the same rule.
 */
export function csvCell(text: string) {
  const first = text.normalize("NFKC");
  const safe = FORMULA.test(first) || LINE_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The contents of a CSV file; numbers are written as they are.
 * @param lines the first has the names of the columns
 */
export function csvTable(lines: (string | number)[][]) {
  const written = lines.map((line) =>
    line.map((cell) => (typeof cell === "number" ? String(cell) : csvCell(cell))).join(","),
  );
  return `${written.join("\r\n")}\r\n`;
}
