import assert from "node:assert/strict";
import { test } from "node:test";
import { createModelClient } from "../../../explorer/components/live/js/modelClient.ts";

let worker: EventTarget & { asked: unknown[] };

Object.assign(globalThis, {
  Worker: class extends EventTarget {
    asked = [] as unknown[];

    constructor() {
      super();
      worker = this;
    }

    postMessage(message: unknown) {
      this.asked.push(message);
    }
  },
});

const question = {
  request: {
    model: "m",
    text: "1",
    pad: 0,
    forced: [],
    interventions: [],
    pair: null,
    reading: null,
  },
  name: "x",
  place: "",
};

test("a worker that fails is said to be missing, whether anything waits for it or not", async () => {
  const client = createModelClient("");
  const waiting = client.ask("resource", question);
  worker.dispatchEvent(new Event("error"));
  await assert.rejects(waiting, { key: "no_worker" });
  await assert.rejects(() => client.ask("resource", question), { key: "no_worker" });
  assert.equal(worker.asked.length, 1);
});
