import assert from "node:assert/strict";
import { test } from "node:test";
import { shareScale } from "../../../explorer/components/head_views/js/comparison.ts";
import {
  colourAt,
  gradient,
  inkOn,
  LEVELS,
  luminance,
  mix,
} from "../../../explorer/components/page/js/palette.ts";
import { scaleMarks, scaleOf, tones } from "../../../explorer/components/trace/js/scale.ts";
import { siteOfCodes } from "./payloads.ts";

test("long rows are shown on √, unless the visitor chooses", () => {
  assert.equal(scaleOf({ scale: null }, { keys: 32 }), "linear");
  assert.equal(scaleOf({ scale: null }, { keys: 33 }), "sqrt");
  assert.equal(scaleOf({ scale: "row" }, { keys: 99 }), "row");
});

test("both sides of a comparison have one scale, whatever their lengths", () => {
  const trace = (keys: number) => ({
    sites: {
      decoder: siteOfCodes([Array(keys).fill(0)], keys),
      cross: siteOfCodes([Array(9).fill(0)], 9),
    },
  });
  const [original, changed] = [trace(20), trace(40)];
  shareScale(original, changed);
  for (const { sites } of [original, changed]) {
    assert.equal(scaleOf({ scale: null }, sites.decoder), "sqrt");
    assert.equal(scaleOf({ scale: null }, sites.cross), "linear");
  }
});

test("the tone of a weight on every scale", () => {
  const codes = Uint16Array.of(0, 16384, 32768, 0, 0, 0);
  const rounded: (scale: "linear" | "sqrt" | "row") => number[] = (scale) =>
    [...tones(codes, 3, scale)].map((tone) => Number(tone.toFixed(2)));
  assert.deepEqual(rounded("linear"), [0, 0.25, 0.5, 0, 0, 0]);
  assert.deepEqual(rounded("sqrt"), [0, 0.5, 0.71, 0, 0, 0]);
  assert.deepEqual(rounded("row"), [0, 0.5, 1, 0, 0, 0]);
});

test("the marks of the colour bar are where their weights are", () => {
  assert.deepEqual(scaleMarks("linear", 2).at(-1), [1, "2"]);
  assert.deepEqual(scaleMarks("sqrt", 1)[2], [0.5, "0.25"]);
  assert.deepEqual(
    scaleMarks("row", 1).map(([, text]) => text),
    ["0", "½", "max"],
  );
});

test("a gradient goes through its stops", () => {
  const ramp = gradient(
    [
      [0, 0, 0],
      [100, 100, 100],
      [255, 255, 255],
    ],
    LEVELS,
  );
  assert.equal(ramp.length, LEVELS);
  assert.deepEqual(colourAt(ramp, 0), [0, 0, 0]);
  assert.deepEqual(colourAt(ramp, 1), [255, 255, 255]);
  const levels = ramp.map(luminance);
  assert.ok(levels.every((level, index) => !index || level >= levels[index - 1]));
  assert.deepEqual(mix([0, 10, 20], [10, 20, 30], 0.5), [5, 15, 25]);
});

test("a number on any colour has a contrast of 4.5 to it", () => {
  for (let level = 0; level < 256; level += 1) {
    const colour: [number, number, number] = [level, level, level];
    const [own, ink] = [luminance(colour), inkOn(colour) === "#fff" ? 1 : 0];
    assert.ok((Math.max(own, ink) + 0.05) / (Math.min(own, ink) + 0.05) >= 4.5, String(level));
  }
});
