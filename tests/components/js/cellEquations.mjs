/** Print cells as the page does: sentences and rows as JSON on standard input, texts on standard output. */

import { readFileSync } from "node:fs";
import { cellArithmetic } from "../../../explorer/components/inside/js/arithmetic.js";
import { cellTexts } from "../../../explorer/components/inside/js/cellTexts.js";
import { readVectors } from "../../../explorer/components/inside/js/headVectors.js";
import { fillIn } from "../../../explorer/components/shared/js/sentences.js";

/** @import { TraceContext } from "../../../explorer/components/shared/js/traceContext.js" */

Object.assign(globalThis, { document: { documentElement: { getAttribute: () => null } } });

/** @type {{strings: Record<string, string>, reasons: string[], heads: {data: string, masked: number[][]}[]}} */
const { strings, reasons, heads } = JSON.parse(readFileSync(0, "utf8"));
const context = /** @type {TraceContext} */ (
  /** @type {unknown} */ ({
    say: (/** @type {string} */ key, /** @type {Record<string, unknown>} */ facts) =>
      fillIn(strings, key, facts),
    trace: { header: { reasons } },
  })
);
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
