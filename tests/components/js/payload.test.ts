import assert from "node:assert/strict";
import { test } from "node:test";
import { readEnvelope, sameBytes } from "../../../explorer/components/page/js/envelope.ts";
import { MEAN } from "../../../explorer/components/trace/js/look.ts";
import { readTrace } from "../../../explorer/components/trace/js/trace.ts";
import { CODES, HEADER, packPayload } from "./payloads.ts";

test("arrays of every type are read, at any alignment of the bytes", () => {
  const packed = packPayload(
    { name: "é" },
    { flags: ["uint8", [1, 0, 1]], codes: ["uint16", [7]], values: ["float32", [0.5, -2]] },
  );
  const shifted = new Uint8Array(packed.length + 1);
  shifted.set(packed, 1);
  for (const bytes of [packed, shifted.subarray(1)]) {
    const { header, array } = readEnvelope(bytes);
    assert.equal((header as { name?: string }).name, "é");
    assert.deepEqual(array("flags"), Uint8Array.of(1, 0, 1));
    assert.deepEqual(array("codes"), Uint16Array.of(7));
    assert.deepEqual(array("values"), Float32Array.of(0.5, -2));
    assert.equal(array("missing"), null);
  }
});

test("bytes are compared by content", () => {
  assert.ok(sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2)));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
  assert.ok(!sameBytes(Uint8Array.of(1, 2), Uint8Array.of(1)));
});

test("weights of every head and their mean", () => {
  const { sites, steps } = readTrace(packPayload(HEADER, { "cross.attention": ["uint16", CODES] }));
  assert.equal(steps, 2);
  assert.ok(sites.cross);
  assert.deepEqual([...sites.cross.weights(0, 1)], CODES.slice(6));
  assert.deepEqual([...sites.cross.weights(0, MEAN)].slice(3), [32768, 0, 32768]);
  assert.deepEqual([...sites.cross.masked(0, 0)], [0, 0, 0, 0, 0, 0]);
});

test("a text that is only read has no steps", () => {
  const header = { ...HEADER, predicted: [], predictions: { kind: "class", rows: [] } };
  const arrays = { "cross.attention": ["uint16", CODES] as ["uint16", number[]] };
  assert.equal(readTrace(packPayload(header, arrays)).steps, 0);
  assert.equal(readTrace(packPayload({ ...header, predictions: undefined }, arrays)).steps, 2);
});

test("codes of unmasked cells are put back in their places", () => {
  const header = {
    ...HEADER,
    sites: { cross: { shape: [1, 2, 2, 3], scale: 1, packed: true, removed: [] } },
  };
  const bytes = packPayload(header, {
    "cross.attention": ["uint16", [1, 2, 3, 4, 5, 6, 7, 8]],
    "cross.closed": ["uint8", [0, 0, 2, 0, 0, 2]],
  });
  const { cross } = readTrace(bytes).sites;
  assert.deepEqual([...(cross?.weights(0, 1) ?? [])], [5, 6, 0, 7, 8, 0]);
  assert.deepEqual([...(cross?.masked(0, 1) ?? [])], [0, 0, 2, 0, 0, 2]);
});

test("a mask per head: the mean is masked where every head is", () => {
  const bytes = packPayload(HEADER, {
    "cross.attention": ["uint16", CODES],
    "cross.closed": ["uint8", [1, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0]],
  });
  const { cross } = readTrace(bytes).sites;
  assert.deepEqual([...(cross?.masked(0, 1) ?? [])], [3, 3, 0, 0, 0, 0]);
  assert.deepEqual([...(cross?.masked(0, MEAN) ?? [])], [1, 0, 0, 0, 0, 0]);
});

test("a mask per layer serves all of its heads", () => {
  const header = {
    ...HEADER,
    sites: { cross: { shape: [2, 2, 1, 3], scale: 1, packed: false, removed: [] } },
  };
  const bytes = packPayload(header, {
    "cross.attention": ["uint16", CODES],
    "cross.closed": ["uint8", [0, 0, 0, 4, 0, 0]],
  });
  const { cross } = readTrace(bytes).sites;
  for (const head of [0, 1, MEAN]) {
    assert.deepEqual([...(cross?.masked(0, head) ?? [])], [0, 0, 0]);
    assert.deepEqual([...(cross?.masked(1, head) ?? [])], [4, 0, 0]);
  }
});

test("candidates by row, best first; a given target is not a forced choice", () => {
  const arrays = {
    "cross.attention": ["uint16", CODES] as ["uint16", number[]],
    "steps.step": ["uint16", [1, 1, 2]] as ["uint16", number[]],
    "steps.rank": ["uint32", [2, 1, 1]] as ["uint32", number[]],
    "steps.label": ["uint32", [1, 0, 1]] as ["uint32", number[]],
    "steps.probability": ["float32", [0.25, 0.75, 1]] as ["float32", number[]],
    "steps.id": ["uint32", [9, 8, 9]] as ["uint32", number[]],
    "steps.chosen": ["uint8", [1, 0, 1]] as ["uint8", number[]],
    "steps.forced": ["uint8", [1, 0, 0]] as ["uint8", number[]],
  };
  const [first, second] = readTrace(packPayload(HEADER, arrays)).candidates;
  assert.deepEqual(
    first.map(({ rank, token, id, chosen, forced }) => [rank, token, id, chosen, forced]),
    [
      [1, "3", 8, false, false],
      [2, "7", 9, true, true],
    ],
  );
  assert.equal(second[0].probability, 1);
  const given = readTrace(packPayload({ ...HEADER, facts: { given: true } }, arrays));
  assert.ok(given.candidates.flat().every(({ forced }) => !forced));
});

test("the trace in words takes the rest of its header from the one in pieces", () => {
  const inner = packPayload(
    { ...HEADER, target: ["<bos>"], predicted: ["37"], rows: [1], columns: [1, 2], sites: {} },
    {},
  );
  const trace = readTrace(
    packPayload(
      { ...HEADER, language: "zh" },
      { "cross.attention": ["uint16", CODES], words: ["uint8", inner] },
    ),
  );
  assert.equal(trace.rows, null);
  assert.deepEqual(trace.words?.rows, [1]);
  assert.deepEqual(trace.words?.columns, [1, 2]);
  assert.equal(trace.words?.header.language, "zh");
  assert.equal(trace.words?.steps, 1);
});
