import { assign, buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import { moveButton, namePlay } from "../../map/js/transport.ts";
import type { ReplayContext } from "./replayContext.ts";

/** First, Play, the slider with its moment and step, more about the moments, and Live. */
export function createMomentSlider(context: ReplayContext, more: HTMLElement): Part {
  const { say, act } = context;
  const first = moveButton(context, "first", "moment-first");
  const play = moveButton(context, "play", "moment-play");
  const slider = element("input", {
    type: "range",
    min: 1,
    testid: "moment",
    "aria-label": say("moment"),
    on: { input: () => act.goTo(Number(slider.value) - 1) },
  });
  const count = element("output", { class: "count", testid: "moment-count" });
  const live = buttonElement(
    () => act.follow(),
    { class: "live row", testid: "live" },
    element("i", { class: "dot", "aria-hidden": "true" }),
    say("live"),
  );
  const node = element(
    "div",
    { class: "moment-controls", role: "toolbar", "aria-label": say("moment") },
    first,
    play,
    slider,
    count,
    more,
    live,
  );
  const draw = () => {
    const { run, state } = context;
    const { moments } = run;
    const { going } = run.report;
    const moment = moments[state.at];
    slider.max = String(Math.max(context.expected(), 1));
    slider.value = String(state.at + 1);
    slider.disabled = moments.length === 0;
    const text = moment
      ? say("moment_of", { moment: state.at + 1, moments: moments.length, step: moment.step })
      : say("no_moments");
    write(count, text);
    assign(slider, "aria-valuetext", text);
    assign(first, "aria-disabled", state.at <= 0 ? "true" : null);
    assign(play, "aria-disabled", moments.length < 2 ? "true" : null);
    namePlay(context, play);
    assign(live, "aria-disabled", going && !state.following ? null : "true");
    assign(live, "aria-pressed", state.following ? "true" : "false");
    assign(live, "title", say(going ? (state.following ? "live_on" : "live_title") : "live_off"));
  };
  return { element: node, views: [draw] };
}
