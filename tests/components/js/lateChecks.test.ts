import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { packEnvelope } from "../../../explorer/components/page/js/envelope.ts";
import { createLateChecks } from "../../../explorer/components/trace/js/lateChecks.ts";
import type { TraceContext } from "../../../explorer/components/trace/js/traceContext.ts";

const CHECKS = [{ check: "rows_sum_to_one", error: 0, limit: 1, ok: true }];

/** Let what waits for nothing but promises go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function contextOf(names: string[]) {
  const fetch = mock.fn(
    async (_name: string, _place: string): Promise<Uint8Array> =>
      packEnvelope({ integrity: CHECKS }, {}),
  );
  const context = {
    pieces: { header: { integrity: null, resources: { address: "trace/a", names } } },
    integrity: null,
    state: { step: 1 },
    options: { resources: { held: null, fetch } },
    give: (patch: object) => Object.assign(context, patch),
  };
  return { context: context as unknown as TraceContext, fetch };
}

/** Frames that are drawn when `paint` is called. */
function frames() {
  const waiting: (() => void)[] = [];
  const requestAnimationFrame = (draw: () => void) => waiting.push(draw);
  Object.assign(globalThis, { requestAnimationFrame });
  return async () => {
    for (const draw of waiting.splice(0)) draw();
    await new Promise((resolve) => setTimeout(resolve)); // the task after the frame
    await settle();
  };
}

test("the checks of a large trace are asked for once its picture is on screen", async () => {
  const paint = frames();
  const { context, fetch } = contextOf(["head", "integrity"]);
  const draw = createLateChecks(context);
  draw();
  draw();
  await settle();
  assert.equal(fetch.mock.callCount(), 0);
  await paint();
  assert.deepEqual(
    fetch.mock.calls.map((call) => call.arguments),
    [["integrity", ""]],
  );
  assert.deepEqual(context.integrity, CHECKS);
  assert.deepEqual(context.pieces.header.integrity, CHECKS);
});

test("a trace that offers none is not asked, and no answer is given to another trace", async () => {
  const paint = frames();
  const small = contextOf(["vectors"]);
  createLateChecks(small.context)();
  const large = contextOf(["integrity"]);
  createLateChecks(large.context)();
  const { pieces } = contextOf([]).context;
  Object.assign(large.context, { pieces });
  await paint();
  assert.equal(small.fetch.mock.callCount(), 0);
  assert.equal(large.context.integrity, null);
});

test("checks that did not come are asked for again at the next step", async () => {
  const paint = frames();
  const { context, fetch } = contextOf(["integrity"]);
  fetch.mock.mockImplementationOnce(async () => {
    throw new Error("nothing there");
  });
  const draw = createLateChecks(context);
  draw();
  await paint();
  draw();
  await paint();
  assert.equal(fetch.mock.callCount(), 1);
  Object.assign(context.state, { step: 2 });
  draw();
  await paint();
  assert.deepEqual(context.integrity, CHECKS);
});
