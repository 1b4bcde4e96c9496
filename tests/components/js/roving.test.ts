import assert from "node:assert/strict";
import { test } from "node:test";
import { followArrows, markStop } from "../../../explorer/components/dom/js/roving.ts";

/** Three buttons in a group, the middle one in focus, and what a key does. */
function exampleGroup({ round = false } = {}) {
  const done: string[] = [];
  const buttons = ["a", "b", "c"].map((name) => ({
    name,
    tabIndex: 0,
    focus: () => done.push(`focus ${name}`),
    click: () => done.push(`click ${name}`),
  })) as unknown as HTMLElement[];
  let listener: (event: object) => void = () => {};
  const group = {
    addEventListener: (_: string, next: typeof listener) => {
      listener = next;
    },
  } as unknown as HTMLElement;
  followArrows(group, () => buttons, { round });
  const press = (key: string, target: number, keys: object = {}) => {
    done.length = 0;
    let taken = false;
    const preventDefault = () => {
      taken = true;
    };
    listener({ key, target: buttons[target], preventDefault, ...keys });
    return [taken, ...done];
  };
  return { buttons, press };
}

test("↑ and ↓ choose the button before and after, and stop at the ends", () => {
  const { press } = exampleGroup();
  assert.deepEqual(press("ArrowDown", 1), [true, "focus c", "click c"]);
  assert.deepEqual(press("ArrowUp", 1), [true, "focus a", "click a"]);
  assert.deepEqual(press("ArrowDown", 2), [true]);
  assert.deepEqual(press("ArrowUp", 0), [true]);
});

test("← and →, other keys and keys with Ctrl stay with the page", () => {
  const { press } = exampleGroup();
  for (const key of ["ArrowLeft", "ArrowRight", "Home", "a"])
    assert.deepEqual(press(key, 1), [false]);
  assert.deepEqual(press("ArrowDown", 1, { ctrlKey: true }), [false]);
});

test("a radio group goes round, by all arrow keys", () => {
  const { press } = exampleGroup({ round: true });
  assert.deepEqual(press("ArrowRight", 2), [true, "focus a", "click a"]);
  assert.deepEqual(press("ArrowLeft", 0), [true, "focus c", "click c"]);
  assert.deepEqual(press("ArrowDown", 0), [true, "focus b", "click b"]);
});

test("the chosen button is the stop of the Tab key, the first where none is", () => {
  const { buttons } = exampleGroup();
  const stops = () => buttons.map((one) => one.tabIndex);
  markStop(buttons, buttons[2]);
  assert.deepEqual(stops(), [-1, -1, 0]);
  markStop(buttons, undefined);
  assert.deepEqual(stops(), [0, -1, -1]);
});
