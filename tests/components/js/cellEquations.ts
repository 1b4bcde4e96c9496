/** Print cells as the page does: sentences and rows as JSON on standard input, texts on standard output. */

import { readFileSync } from "node:fs";
import { fillIn } from "../../../explorer/components/dom/js/sentences.ts";
import { cellArithmetic } from "../../../explorer/components/inside/js/arithmetic.ts";
import { cellTexts } from "../../../explorer/components/inside/js/cellTexts.ts";
import { readVectors } from "../../../explorer/components/inside/js/headVectors.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";

const {
  strings,
  reasons,
  heads,
}: {
  strings: Record<string, string>;
  reasons: string[];
  heads: { data: string; masked: number[][] }[];
} = JSON.parse(readFileSync(0, "utf8"));
const context = {
  say: (key: string, facts: Record<string, unknown>) => fillIn(strings, key, facts),
  trace: { header: { reasons } },
  asked: { open: [] },
} as unknown as TraceContext;
const texts = heads.flatMap(({ data, masked }) => {
  const head = readVectors(new Uint8Array(Buffer.from(data, "base64")));
  return masked.flatMap((row, query) =>
    row.map((_, key) => {
      const found = cellArithmetic(head, row, query, key);
      const { sentence, numbers } = cellTexts(context, head, found, Uint8Array.from(row), {
        query,
        key,
      });
      return { sentence, ...numbers };
    }),
  );
});
process.stdout.write(JSON.stringify(texts));
