import assert from "node:assert/strict";
import { test } from "node:test";
import { readSafetensors } from "../../../explorer/components/browser_model/js/safetensors.ts";

/** A file without tensors. */
function file(header: string) {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true);
  return Uint8Array.from([...length, ...new TextEncoder().encode(header)]);
}

test("metadata that are no table of texts are refused as damaged", () => {
  assert.deepEqual(readSafetensors(file('{"__metadata__":{"a":"b"}}'), "m").metadata, { a: "b" });
  assert.deepEqual(readSafetensors(file("{}"), "m").metadata, {});
  for (const other of ["null", "3", '"text"']) {
    const damaged = file(`{"__metadata__":${other}}`);
    assert.throws(() => readSafetensors(damaged, "m"), { key: "damaged_checkpoint" });
  }
});
