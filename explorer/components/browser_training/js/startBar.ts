/** Which task to train, Start and Stop, and what can be done with the model. */

import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { onPage } from "../../page/js/onPage.ts";
import type { Choice } from "./settings.ts";
import { TASKS } from "./toyTasks.ts";

export interface BarState {
  going: boolean;
  trained: boolean; // whether there is a model
  blocked: boolean; // whether the browser has not opened a tab for it
  unshared: boolean; // whether the class has not taken its latest curve
}

export interface BarActions {
  start: (choice: Choice) => void;
  stop: () => void;
  open: () => void;
  save: () => void;
  share?: (agreed: boolean) => void; // with the class, on the page of a guest
}

const SEEDS = 1000; // to choose from by chance: in a class each has its own
const LARGEST_SEED = 2 ** 31;

export function createStartBar(state: Readonly<BarState>, act: BarActions, say: Say): Part {
  const task = element(
    "select",
    { testid: "train-task", "aria-label": say("label_task") },
    ...TASKS.map((name) => element("option", { value: name }, say(`task_${name}`))),
  );
  const unmasked = element("input", { type: "checkbox", testid: "train-unmasked" });
  const seed = element("input", {
    ...{ type: "number", min: 0, max: LARGEST_SEED, required: true, testid: "train-seed" },
    value: Math.floor(Math.random() * SEEDS),
  });
  const seedLabel = element("label", {}, `${say("label_seed")} `, seed);
  const start = element(
    "button",
    { type: "submit", class: "primary", testid: "train-start", title: say("start_title") },
    say("start"),
  );
  const button = (name: "stop" | "open" | "save") =>
    buttonElement(
      () => act[name](),
      { testid: `train-${name}`, title: say(`${name}_title`) },
      say(name),
    );
  const [stop, open, save] = [button("stop"), button("open"), button("save")];
  const agreement = act.share ? [shareBox(act.share, say)] : [];
  const problem = element("span", { class: "problem", role: "alert" });
  const submit = (event: Event) => {
    event.preventDefault();
    act.start({ task: task.value, causal: !unmasked.checked, seed: Number(seed.value) });
  };
  const node = element(
    "form",
    { class: "page train-bar", testid: "train-bar", "aria-label": say("bar"), on: { submit } },
    task,
    element("label", { title: say("unmasked_title") }, unmasked, ` ${say("unmasked")}`),
    seedLabel,
    ...[start, stop, ...agreement, open, save, problem],
  );
  const draw = () => {
    seedLabel.hidden = !onPage.everything;
    start.hidden = state.going;
    stop.hidden = !state.going;
    for (const one of [open, save]) one.hidden = !state.trained;
    write(problem, state.blocked ? say("blocked") : state.unshared ? say("unshared") : "");
  };
  return { element: node, views: [draw] };
}

/** Whether the curve is shared with the class. */
function shareBox(share: (agreed: boolean) => void, say: Say) {
  const box = element("input", {
    type: "checkbox",
    testid: "train-share",
    on: { change: () => share(box.checked) },
  });
  return element("label", { title: say("share_title") }, box, ` ${say("share")}`);
}
