const REEL_ICONS = { first: "|◀", play: "▶", pause: "❚❚" };

/** First, Play, the slider, where it stands, and Live. */
function createSlider(context) {
  const { say, act } = context;
  const button = (name, action) =>
    element(
      "button",
      { type: "button", class: "move", testid: `moment-${name}`, "aria-label": say(name), title: say(`${name}_title`), on: { click: action } },
      element("span", { class: "icon", "aria-hidden": "true" }, REEL_ICONS[name]),
    );
  const first = button("first", () => act.goTo(0));
  const play = button("play", () => act.play());
  const slider = element("input", {
    type: "range",
    min: 1,
    testid: "moment",
    "aria-label": say("moment"),
    on: { input: () => act.goTo(Number(slider.value) - 1) },
  });
  const count = element("output", { class: "count", testid: "moment-count" });
  const live = element(
    "button",
    { type: "button", class: "live", testid: "live", on: { click: () => act.follow() } },
    element("i", { class: "dot", "aria-hidden": "true" }),
    say("live"),
  );
  const node = element("div", { class: "reel-controls", role: "toolbar" }, first, play, slider, count, live);
  assign(node, "aria-label", say("moment"));
  const parts = { first, play, slider, count, live };
  const update = (changed) => {
    if (["reel", "at", "following", "playing"].some((name) => changed.has(name))) drawSlider(context, parts);
  };
  return { element: node, update };
}

/** Bring the controls to the present moment. */
function drawSlider({ reel, state, say, expected }, { first, play, slider, count, live }) {
  const moments = reel.moments;
  const moment = moments[state.at];
  const [most, last] = [Math.max(expected(), 1), moments.length];
  slider.max = most;
  slider.value = state.at + 1;
  slider.disabled = last === 0;
  const text = moment
    ? say("moment_of", { moment: state.at + 1, moments: last, step: moment.step })
    : say("no_moments");
  write(count, text);
  assign(slider, "aria-valuetext", text);
  assign(first, "aria-disabled", state.at <= 0 ? "true" : null);
  assign(play, "aria-disabled", last < 2 ? "true" : null);
  assign(play, "aria-pressed", state.playing ? "true" : "false");
  write(play.firstChild, REEL_ICONS[state.playing ? "pause" : "play"]);
  const { going } = reel.report;
  assign(live, "aria-disabled", going && !state.following ? null : "true");
  assign(live, "aria-pressed", state.following ? "true" : "false");
  assign(live, "title", say(going ? (state.following ? "live_on" : "live_title") : "live_off"));
}
