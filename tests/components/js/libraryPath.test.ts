import assert from "node:assert/strict";
import { test } from "node:test";
import { ofLibrary } from "../../../explorer/components/inside/js/libraryPath.ts";
import { readTokenPath } from "../../../explorer/components/inside/js/tokenPath.ts";
import { packPayload } from "./payloads.ts";

const say = (key: string) => key;

/** The path of a model of the library, whose family has no vectors of positions. */
function pathOf(norm: string, place: string) {
  const header = {
    config: { norm: place, heads: 2, encoder_layers: 0, decoder_layers: 3 },
    norm,
    counts: { queries: 1, keys: 1 },
    candidates: [],
  };
  return readTokenPath(packPayload(header, { input: ["float32", [1, 2]] }));
}

test("a model of the library has no sizes, and the vectors that its family has", () => {
  const path = pathOf("RMSNorm", "pre");
  assert.equal(path.sizes, null);
  assert.equal(path.shape.decoder_layers, 3);
  assert.ok(path.has("input"));
  assert.ok(!path.has("positions"));
});

test("boxes keep the equations that hold in every family, and have its names", () => {
  const contents = {
    normed: { equation: "normed" },
    hidden: null,
    result: { equation: "result", text: "x" },
    stack: { equation: "stack" },
  };
  const found = ofLibrary(say, pathOf("RMSNorm", "pre"), contents);
  assert.equal(found.hidden, null);
  assert.deepEqual(found.result, { equation: "result", text: "x" });
  assert.equal(found.stack?.equation, undefined);
  assert.equal(found.normed?.equation, undefined);
  assert.equal(found.normed?.heading, "RMSNorm");
  assert.equal(found.normed?.title, "path_root_title");
});

test("a sum behind which stands another norm than LayerNorm has no equation", () => {
  const contents = { result: { equation: "result_post" }, heads: { equation: "heads" } };
  const found = ofLibrary(say, pathOf("RMSNorm", "post"), contents);
  assert.equal(found.result?.equation, undefined);
  assert.equal(found.heads?.equation, "heads");
  const other = ofLibrary(say, pathOf("LayerNorm", "post"), contents);
  assert.equal(other.result?.equation, "result_post");
});
