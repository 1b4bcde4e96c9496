import assert from "node:assert/strict";
import { test } from "node:test";
import { hookPoint, watching } from "../../../explorer/components/browser_model/js/hookPoint.ts";
import { linear } from "../../../explorer/components/browser_model/js/matrices.ts";
import { ModelMemory } from "../../../explorer/components/browser_model/js/modelMemory.ts";
import { readPieceModel } from "../../../explorer/components/browser_model/js/pieceModel.ts";
import { messageFields } from "../../../explorer/components/browser_model/js/protobuf.ts";
import { decodeUtf8 } from "../../../explorer/components/browser_model/js/utf8.ts";

/** A trainer's record: byte fallback, and 0, 1, 2 for padding, beginning and end. */
const TRAINER = [0x12, 0x0c, 0x98, 2, 1, 0xc8, 2, 1, 0xd0, 2, 2, 0xd8, 2, 0];

test("a watched value may be changed in place, and is left alone afterwards", () => {
  const points = new Map();
  const point = hookPoint(points, "encoder.output");
  const values = Float32Array.of(1, 2);
  const shapes: number[][] = [];
  const double = (
    seen: import("../../../explorer/components/browser_model/js/hookPoint.ts").Values,
    shape: number[],
  ) => {
    shapes.push(shape);
    seen[0] *= 2;
  };
  watching(points, { "encoder.output": double }, () => point.see(values, 1, 2));
  assert.deepEqual([...values], [2, 2]);
  assert.throws(() => watching(points, { "encoder.output": double }, () => assert.fail()));
  point.see(values, 1, 2);
  assert.deepEqual([...values], [2, 2]);
  assert.deepEqual(shapes, [[1, 2]]);
  assert.throws(() => watching(points, { elsewhere: double }, () => null), /no hook point/);
});

test("a linear map of any numbers of inputs, outputs and rows", () => {
  for (const [inputs, outputs, rows] of [
    [2, 5, 2],
    [7, 4, 1],
    [8, 3, 33],
    [13, 10, 70],
  ]) {
    const memory = new ModelMemory([inputs * outputs, outputs], inputs + outputs);
    const weight = memory.room(inputs * outputs);
    const bias = memory.room(outputs);
    weight.forEach((_, index) => {
      weight[index] = (index % 11) - 5;
    });
    bias.forEach((_, index) => {
      bias[index] = index;
    });
    const x = Float32Array.from({ length: rows * inputs }, (_, index) => (index % 7) - 3);
    const expected = Array.from({ length: rows * outputs }, (_, place) => {
      const [row, output] = [Math.floor(place / outputs), place % outputs];
      let sum = bias[output];
      for (let input = 0; input < inputs; input++) {
        sum += x[row * inputs + input] * weight[output * inputs + input];
      }
      return sum;
    });
    assert.deepEqual([...linear(x, rows, { weight, bias, memory })], expected);
  }
});

test("a browser without WebAssembly or its vectors is told so", () => {
  const there = globalThis.WebAssembly;
  const { Memory, Instance } = there;
  const Module = () => {
    throw new there.CompileError("no SIMD");
  };
  for (const lacking of [undefined, { Memory, Instance, Module }]) {
    Object.assign(globalThis, { WebAssembly: lacking });
    try {
      assert.throws(() => new ModelMemory([4], 8), { key: "no_webassembly" });
    } finally {
      Object.assign(globalThis, { WebAssembly: there });
    }
  }
});

test("fields of every wire type, and bytes that are no message", () => {
  const bytes = [0x08, 0xac, 2, 0x12, 2, 65, 66, 0x1d, 0, 0, 0xc0, 0x3f];
  const fields = [...messageFields(Uint8Array.from(bytes))];
  assert.deepEqual(fields, [
    [1, 300],
    [2, Uint8Array.of(65, 66)],
    [3, 1.5],
  ]);
  for (const damaged of [[0x08], [0x12, 5, 1], [0x0b], [0x08, ...Array(11).fill(0xff)]]) {
    assert.throws(() => [...messageFields(Uint8Array.from(damaged))], RangeError);
  }
});

test("a piece model of another kind, or damaged, is refused", () => {
  const identity = [0x1a, 2, 0x12, 0];
  const { spaceFirst, spacesTrimmed } = readPieceModel(Uint8Array.from([...TRAINER, ...identity]));
  assert.deepEqual([spaceFirst, spacesTrimmed], [true, true]);
  const kept = readPieceModel(Uint8Array.from([...TRAINER, 0x1a, 4, 0x18, 0, 0x20, 0]));
  assert.deepEqual([kept.spaceFirst, kept.spacesTrimmed], [false, false]);
  const refused: [string, number[]][] = [
    ["foreign_pieces", []],
    ["unusual_pieces", [...TRAINER, 0x1a, 3, 0x12, 1, 9]], // a table of characters to replace
    ["unusual_pieces", [...TRAINER, 0x0a, 5, 0x0a, 1, 65, 0x18, 4]], // a user-defined piece
    ["damaged_pieces", [...TRAINER, 0x0a, 3, 0x0a, 1, 0xff]], // not UTF-8
    ["damaged_pieces", [...TRAINER, 0x0a, 9]],
  ];
  for (const [key, bytes] of refused) {
    assert.throws(() => readPieceModel(Uint8Array.from(bytes)), { key });
  }
});

test("bytes that are of no character become one sign each", () => {
  const text = "aé猫😀";
  assert.equal(decodeUtf8([...new TextEncoder().encode(text)]), text);
  assert.equal(decodeUtf8([0xe7, 0x8c, 65]), "\ufffd\ufffdA");
  assert.equal(decodeUtf8([0xed, 0xa0, 0x80, 0xc0, 0xf4, 0x90, 0x80, 0x80]), "\ufffd".repeat(8));
});
