/** A trained model as the bytes of a checkpoint file, as `explorer/model/checkpoint.py` writes them. */

import type { Parameters } from "./parameters.ts";
import { modelConfigOf, type Settings } from "./settings.ts";

const LENGTH = 8; // bytes of the number before the header
const NUMBER = 4; // bytes of a float32

/** @param facts of the model, such as its steps and exact match */
export function checkpointFile(
  settings: Settings,
  parameters: Parameters,
  facts: Record<string, unknown>,
): Uint8Array<ArrayBuffer> {
  const { task, longest, symbols, seed } = settings;
  const vocabulary = JSON.stringify({ kind: "symbols", symbols });
  const header: Record<string, object> = {
    __metadata__: {
      config: JSON.stringify(modelConfigOf(settings)),
      facts: JSON.stringify({ task, longest, seed, ...facts }),
      format: "attention-explorer",
      source_vocabulary: vocabulary,
      target_vocabulary: vocabulary,
      version: "1",
    },
  };
  let end = 0;
  for (const [name, { shape, data }] of Object.entries(parameters)) {
    const start = end;
    end += NUMBER * data.length;
    header[name] = { dtype: "F32", shape, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const body = LENGTH + LENGTH * Math.ceil(text.length / LENGTH); // where the numbers begin
  const bytes = new Uint8Array(body + end).fill(0x20, LENGTH, body); // JSON may end with spaces
  new DataView(bytes.buffer).setBigUint64(0, BigInt(body - LENGTH), true);
  bytes.set(text, LENGTH);
  let at = body;
  for (const { data } of Object.values(parameters)) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
