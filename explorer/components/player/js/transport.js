const MOVES = ["first", "previous", "play", "next", "last"];
const ICONS = { first: "|◀", previous: "◀", play: "▶", pause: "❚❚", next: "▶", last: "▶|" };

/** First, Previous, Play, Next, Last, the Step slider and Show ahead. */
function createTransport(context) {
  const { say, act } = context;
  const buttons = Object.fromEntries(MOVES.map((name) => [name, moveButton(context, name)]));
  const slider = element("input", {
    type: "range",
    min: 1,
    testid: "step",
    "aria-label": say("step"),
    on: { input: () => act.goTo(Number(slider.value)) },
  });
  const count = element("output", { class: "count", testid: "step-count" });
  const ahead = element("input", {
    type: "checkbox",
    testid: "ahead",
    on: { change: () => context.set({ ahead: ahead.checked, hinted: true }) },
  });
  const hint = element("span", { class: "hint", testid: "hint" });
  const label = element("label", { class: "ahead", title: say("ahead_title") }, ahead, say("ahead"));
  const node = element(
    "div",
    { class: "transport", role: "toolbar", "aria-label": say("transport") },
    ...Object.values(buttons),
    slider,
    count,
    label,
    hint,
    projectorButton(context),
  );
  const parts = { buttons, slider, count, ahead, hint };
  const causes = ["trace", "site", "step", "ahead", "playing", "hinted", "projector"];
  const update = (changed) => {
    if (causes.some((name) => changed.has(name))) drawTransport(context, parts);
  };
  return { element: node, update };
}

/** One of the five buttons. */
function moveButton({ say, act }, name) {
  return element(
    "button",
    {
      type: "button",
      class: `move ${name}`,
      testid: name,
      "aria-label": say(name),
      title: say(`${name}_title`),
      on: { click: () => act[name]() },
    },
    element("span", { class: "icon", "aria-hidden": "true" }, ICONS[name]),
    element("span", { class: "word" }, say(name)),
  );
}

/** Bigger type for the back row. */
function projectorButton(context) {
  return element(
    "button",
    {
      type: "button",
      class: "quiet projector-switch",
      testid: "projector",
      title: context.say("projector_title"),
      on: { click: () => context.set({ projector: !context.state.projector }) },
    },
    context.say("projector"),
  );
}

/** Bring the controls to the state. */
function drawTransport(context, { buttons, slider, count, ahead, hint }) {
  const { state, trace, say } = context;
  const off = currentRow(context) < 0;
  const reason = off ? say(state.site === "encoder" ? "encoder_reason" : "no_steps") : null;
  const atStart = state.step <= 1;
  const atEnd = state.step >= trace.steps;
  const dead = { first: atStart && !state.ahead, previous: atStart, next: atEnd, last: atEnd };
  for (const [name, button] of Object.entries(buttons)) {
    assign(button, "aria-disabled", off || dead[name] ? "true" : null);
    assign(button, "title", reason ?? say(`${name}_title`));
  }
  write(buttons.play.firstChild, ICONS[state.playing ? "pause" : "play"]);
  assign(buttons.play, "aria-pressed", state.playing ? "true" : "false");
  slider.max = Math.max(trace.steps, 1);
  slider.value = Math.max(state.step, 1);
  slider.disabled = off;
  assign(slider, "aria-valuetext", say("step_of", { step: state.step, steps: trace.steps }));
  write(count, off ? "" : say("step_of", { step: state.step, steps: trace.steps }));
  ahead.checked = state.ahead;
  ahead.disabled = off;
  write(hint, off ? reason : state.hinted || state.projector ? "" : say("hint"));
}
