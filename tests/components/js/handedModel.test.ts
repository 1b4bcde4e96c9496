import assert from "node:assert/strict";
import { test } from "node:test";
import { askForModel } from "../../../explorer/components/browser_training/js/handedModel.ts";

const HANDS = "attention-explorer hands a model";
const MODEL = {
  name: "copy-7",
  file: Uint8Array.from([1, 2]),
  sha256: "0a",
  symbols: ["1", "2"],
  longest: 8,
  opening: { site: "cross", layer: 0, head: 1 },
};

/** What the page takes of a message that its opener sends; null after its patience. */
async function taken(data: unknown, from: { origin?: string; own?: string; other?: boolean } = {}) {
  const { origin = "https://host", own = "https://host", other = false } = from;
  const listeners: ((event: unknown) => void)[] = [];
  const targets: string[] = [];
  const opener = { postMessage: (_: unknown, target: string) => targets.push(target) };
  const ends: (() => void)[] = [];
  const addEventListener = (_: string, take: (event: unknown) => void) => listeners.push(take);
  const window = { opener, origin: own, addEventListener };
  Object.assign(globalThis, { window, setTimeout: (end: () => void) => ends.push(end) });
  const asked = askForModel();
  for (const take of listeners) take({ source: other ? {} : opener, origin, data });
  for (const end of ends) end();
  return { model: await asked, targets };
}

test("the page that opened this one hands a model, from a server or from disk", async () => {
  const served = await taken({ [HANDS]: MODEL });
  assert.deepEqual(served, { model: MODEL, targets: ["https://host"] });
  const onDisk = await taken({ [HANDS]: MODEL }, { origin: "null", own: "null" });
  assert.deepEqual(onDisk, { model: MODEL, targets: ["*"] });
  const plain = { ...MODEL, opening: null };
  assert.deepEqual((await taken({ [HANDS]: plain })).model, plain);
});

test("another page, or one of another origin, hands none", async () => {
  assert.equal((await taken({ [HANDS]: MODEL }, { other: true })).model, null);
  assert.equal((await taken({ [HANDS]: MODEL }, { origin: "https://evil" })).model, null);
  assert.equal((await taken({ [HANDS]: MODEL }, { origin: "null" })).model, null);
});

test("what is no whole model is none", async () => {
  const wrong: Record<string, unknown[]> = {
    name: [1, null],
    file: ["x", [1, 2], null],
    sha256: [5],
    symbols: ["12", [1], null],
    longest: ["8", 0, 1.5, Number.NaN],
    opening: [1, {}, { site: "x", layer: 0, head: 0 }, { site: "cross", layer: -1, head: 0 }],
  };
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of [undefined, ...values]) {
      const model = { ...MODEL, [field]: value };
      assert.equal((await taken({ [HANDS]: model })).model, null, `${field}: ${value}`);
    }
  }
  for (const data of [1, "x", null, [], true, { [HANDS]: 1 }, { [HANDS]: "x" }]) {
    assert.equal((await taken(data)).model, null);
  }
});
