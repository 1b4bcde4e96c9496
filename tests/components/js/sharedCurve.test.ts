import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { settingsOf } from "../../../explorer/components/browser_training/js/settings.ts";
import {
  createSharing,
  sharedCurve,
} from "../../../explorer/components/browser_training/js/sharedCurve.ts";
import { TASKS } from "../../../explorer/components/browser_training/js/toyTasks.ts";

const CHOICE = { task: "reverse", causal: true, seed: 7 };
const MOST_POINTS = 60; // that the server takes

function training(begun: number, ...steps: number[]): any {
  const moments = steps.map((step) => ({ step, exact: step / 3000, gold: [[0.123456, 1]] }));
  return { settings: settingsOf(CHOICE), begun, state: "running", moments };
}

let sent: any[] = [];
let status = 204;
let answers: boolean[] = [];
let browser = new EventTarget();

beforeEach(() => {
  [sent, status, answers] = [[], 204, []];
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(AbortSignal, "timeout", () => new AbortController().signal);
  const page = { documentElement: { dataset: { class: "" } } };
  browser = new EventTarget();
  Object.assign(globalThis, {
    window: browser,
    document: page,
    location: { href: "http://class.example/train" },
  });
  mock.method(globalThis, "fetch", async (address: URL, { body }: any) => {
    assert.equal(address.href, "http://class.example/class/curve");
    sent.push(JSON.parse(body));
    return { ok: status === 204 };
  });
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

const sharing = () => createSharing((taken) => answers.push(taken));

/** Let what waits go on; `seconds` pass. */
async function pass(seconds = 0) {
  await new Promise((done) => setImmediate(done));
  mock.timers.tick(1000 * seconds);
  await new Promise((done) => setImmediate(done));
}

const lastSteps = () => sent.map(({ points }) => points.at(-1)[0]);

test("a message has the curve, the heads and no name", () => {
  assert.deepEqual(sharedCurve(training(1, 25, 50), "k3"), {
    ...{ training: "k3", task: "reverse", causal: true, seed: 7 },
    points: [
      [25, 0.0083],
      [50, 0.0167],
    ],
    gold: [[0.1235, 1]],
    finished: false,
  });
  assert.ok(sharedCurve({ ...training(1, 25), state: "done" }, "k3").finished);
});

test("no training has more moments than the server takes", () => {
  for (const task of TASKS) {
    const { steps, evaluate_every } = settingsOf({ ...CHOICE, task });
    assert.ok(steps / evaluate_every <= MOST_POINTS);
  }
});

test("nothing is sent before the guest agrees, and nothing after they no longer do", async () => {
  const { agree, follow } = sharing();
  follow(training(1));
  follow(training(1, 25));
  await pass(3);
  assert.deepEqual(sent, []);
  agree(true);
  await pass();
  assert.deepEqual(lastSteps(), [25]);
  follow(training(1, 25, 50));
  agree(false);
  await pass(3);
  assert.deepEqual(lastSteps(), [25]);
});

test("a message comes every two seconds at most, the last one always", async () => {
  const { agree, follow } = sharing();
  agree(true);
  for (const steps of [[25], [25, 50], [25, 50, 75]]) follow(training(1, ...steps));
  await pass(1);
  assert.deepEqual(lastSteps(), [25]);
  follow(training(2, 25)); // does not wait for the other training, nor keep its end back
  await pass();
  assert.deepEqual(lastSteps(), [25, 25]);
  await pass(1);
  assert.deepEqual(lastSteps(), [25, 25, 75]);
  assert.equal(sent[0].training, sent[2].training);
  assert.notEqual(sent[0].training, sent[1].training);
  for (const { training } of sent) assert.match(training, /^[a-z0-9]{1,40}$/);
});

test("the guest is told when the class takes no message, and the next one has it all", async () => {
  const { agree, follow } = sharing();
  agree(true);
  status = 429;
  follow(training(1, 25));
  await pass(2);
  status = 204;
  follow(training(1, 25, 50));
  await pass(2);
  assert.deepEqual(answers, [false, true]);
  assert.equal(sent[1].points.length, 2);
});

test("the last curve of a training is sent again, a few times or once the browser is online", async () => {
  const { agree, follow } = sharing();
  agree(true);
  status = 503;
  follow(training(1, 25));
  await pass();
  for (const seconds of [5, 20, 60, 600]) await pass(seconds);
  assert.equal(sent.length, 4);
  status = 204;
  browser.dispatchEvent(new Event("online"));
  await pass();
  assert.deepEqual(answers, [false, false, false, false, true]);
  browser.dispatchEvent(new Event("online"));
  await pass(600);
  assert.equal(sent.length, 5); // nothing is left to send
});
