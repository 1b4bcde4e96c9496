/** Compute cells as the page does: cases as JSON on standard input, numbers on standard output. */

import { readFileSync } from "node:fs";
import { cellArithmetic } from "../../../explorer/components/inside/js/arithmetic.ts";
import { readVectors } from "../../../explorer/components/inside/js/headVectors.ts";

const cases: { data: string; masked: number[]; query: number; key: number }[] = JSON.parse(
  readFileSync(0, "utf8"),
);
const numbers = cases.map(({ data, masked, query, key }) => {
  const head = readVectors(new Uint8Array(Buffer.from(data, "base64")));
  const { weights, scores, output } = cellArithmetic(head, masked, query, key);
  return [weights[key], scores[key], ...output];
});
process.stdout.write(JSON.stringify(numbers));
