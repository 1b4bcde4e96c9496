import assert from "node:assert/strict";
import { test } from "node:test";
import { zoomOf } from "../../../explorer/components/map/js/geometry.ts";
import { createHeadPictures } from "../../../explorer/components/map/js/headPictures.ts";
import { endsIn, meanOf } from "../../../explorer/components/map/js/overview.ts";
import { readTrace, type Site } from "../../../explorer/components/trace/js/trace.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";
import {
  partAround,
  partBetween,
  type Zoom,
  zoomOn,
  zoomWith,
} from "../../../explorer/components/trace/js/zoom.ts";
import { HEADER, packPayload } from "./payloads.ts";

const SQUARE = { queries: 100, keys: 100 };

test("a part that the map has is shown; all of it, and what is beyond it, is no part", () => {
  assert.deepEqual(zoomOn(SQUARE, [0, 99, 0, 98]), [0, 99, 0, 98]);
  assert.equal(zoomOn(SQUARE, [0, 99, 0, 99]), null);
  assert.equal(zoomOn(SQUARE, [0, 100, 0, 9]), null);
  assert.equal(zoomOn(SQUARE, [0, 9, 0, 100]), null);
  assert.equal(zoomOn(SQUARE, null), null);
});

test("a step within the part leaves it; one beyond moves its rows, and on the diagonal its columns", () => {
  const part: Zoom = [10, 19, 0, 49];
  assert.equal(zoomWith(SQUARE, part, 19), part);
  assert.deepEqual(zoomWith(SQUARE, part, 20), [20, 29, 0, 49]);
  assert.deepEqual(zoomWith(SQUARE, part, 9), [0, 9, 0, 49]);
  assert.deepEqual(zoomWith(SQUARE, part, 99), [90, 99, 0, 49]);
  assert.deepEqual(zoomWith(SQUARE, [7, 19, 7, 19], 20), [20, 32, 20, 32]);
  assert.deepEqual(zoomWith({ queries: 100, keys: 101 }, [7, 19, 7, 19], 20), [20, 32, 7, 19]);
  assert.deepEqual(zoomWith(SQUARE, [90, 97, 0, 9], 99), [92, 99, 0, 9]); // the last whole one
  assert.equal(zoomWith(SQUARE, part, -1), part); // an encoder has no current row
  assert.equal(zoomWith(SQUARE, null, 5), null);
});

test("a rectangle is drawn in any direction, and ends at the edge of the map", () => {
  const [one, other] = [
    { query: 30, key: 120 },
    { query: -4, key: 8 },
  ];
  assert.deepEqual(partBetween(SQUARE, one, other), [0, 30, 8, 99]);
  assert.deepEqual(partBetween(SQUARE, other, one), [0, 30, 8, 99]);
});

test("a click shows the part around a cell, as large as the one before", () => {
  const wide = { queries: 1000, keys: 500 };
  assert.deepEqual(partAround(wide, null, { query: 500, key: 2 }), [436, 563, 0, 127]);
  assert.deepEqual(partAround(wide, [0, 9, 0, 3], { query: 999, key: 250 }), [990, 999, 248, 251]);
  assert.deepEqual(
    partAround({ queries: 20, keys: 300 }, null, { query: 3, key: 299 }),
    [0, 19, 172, 299],
  );
});

test("the ranges of a zoom are whole cells, with those of which a part is seen", () => {
  assert.deepEqual(zoomOf({ x: [-0.5, 9.5], y: [3.5, 4.5] }), [4, 4, 0, 9]);
  assert.deepEqual(zoomOf({ x: [1.2, 3.4], y: [1.6, 2.6] }), [2, 3, 1, 3]);
  assert.deepEqual(zoomOf({ x: [0.5000000001, 1.5], y: [0.1, 0.2] }), [0, 0, 1, 1]);
});

test("a part in numbers is read, whatever the dash", () => {
  assert.deepEqual(endsIn("513–640"), [512, 639]);
  assert.deepEqual(endsIn(" 3 - 9 "), [2, 8]);
  assert.deepEqual(endsIn("7"), [6, 6]);
  for (const wrong of ["", "a–b", "3–", "1.5", "-3–9", "1–2–3"]) assert.equal(endsIn(wrong), null);
});

const CODES = [0, 10, 20, 30, 40, 50, 5, 15, 25, 35, 45, 55];

/** One layer of two heads with 2 × 3 cells; in the second head two are masked. */
function smallContext(zoom: Zoom | null) {
  const site = { shape: [1, 2, 2, 3], scale: 1, removed: [], packed: false };
  const trace = readTrace(
    packPayload(
      { ...HEADER, sites: { cross: site } },
      {
        "cross.attention": ["uint16", CODES],
        "cross.closed": ["uint8", [0, 0, 2, 0, 0, 2, 0, 1, 2, 0, 0, 2]],
      },
    ),
  );
  const state = { site: "cross", zoom, alignment: "off", words: false };
  return { trace, pieces: trace, state, options: {} } as unknown as TraceContext;
}

test("the pictures of a part of the map are its cells", () => {
  const pictures = createHeadPictures(smallContext(null));
  const { part, of } = pictures([1, 1, 0, 1]);
  assert.deepEqual(part, [1, 1, 0, 1]);
  const picture = of(0, 1);
  assert.deepEqual([picture.queries, picture.keys], [1, 2]);
  assert.deepEqual([...picture.weights], [35, 45]);
  assert.deepEqual([...picture.masked], [0, 0]);
});

test("the mean of all heads is of each cell, masked where all of them mask it", () => {
  const context = smallContext(null);
  const site = context.trace.sites.cross as Site;
  const mean = meanOf(site, createHeadPictures(context)(null));
  assert.deepEqual([...mean.weights], [3, 13, 23, 33, 43, 53]); // half a code is rounded up
  assert.deepEqual([...mean.masked], [0, 0, 2, 0, 0, 2]);
});

test("pictures of a part of a large trace are asked for once, and until then all is shown", async () => {
  const site = { shape: [1, 2, 4, 6], scale: 1, removed: [], picture: [2, 3], reasons: [1] };
  const resources = { address: "trace/x", names: ["head", "pictures"] };
  const trace = readTrace(
    packPayload(
      { ...HEADER, resources, sites: { cross: site } },
      {
        "cross.pictures": ["uint8", [0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 0]],
        "cross.pictures.closed": ["uint8", [0, 0, 1, 0, 0, 0]],
      },
    ),
  );
  const asked: string[] = [];
  const answer = packPayload(
    { picture: [1, 2] },
    { pictures: ["uint8", [255, 0, 0, 255]], closed: ["uint8", [0, 1]] },
  );
  const fetch = async (name: string, place: string) => {
    asked.push(`${name}/${place}`);
    return answer;
  };
  const context = {
    trace,
    pieces: trace,
    state: { site: "cross", alignment: "off", words: false },
    options: { resources: { held: null, fetch } },
    signal: new AbortController().signal,
    answers: 0,
    give: () => {},
  } as unknown as TraceContext;
  const pictures = createHeadPictures(context);
  assert.deepEqual(pictures(null).part, [0, 3, 0, 5]); // the payload has those of all
  assert.deepEqual(asked, []);
  assert.deepEqual(pictures([1, 1, 2, 3]).part, [0, 3, 0, 5]);
  await new Promise((resolve) => setTimeout(resolve));
  const { part, of } = pictures([1, 1, 2, 3]);
  assert.deepEqual(part, [1, 1, 2, 3]);
  assert.deepEqual([...of(0, 1).weights], [0, 65535]);
  assert.deepEqual([...of(0, 1).masked], [0, 1]);
  assert.deepEqual(asked, ["pictures/pieces/cross/1-1.2-3"]);
});
