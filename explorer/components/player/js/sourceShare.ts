import { assign, element, type Part, populate, write } from "../../dom/js/element.ts";
import { tokenHidden } from "../../trace/js/guess.ts";
import { labelOf } from "../../trace/js/label.ts";
import { shownMethod } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { createContributionNote } from "./contributionNote.ts";

const FEW = 12; // output tokens whose labels fit under their bars

/**
 * Beside contributions: for each output token a bar, how much of it the source, or the prompt of a
 * decoder alone, has given by all layers together, and how much what was decoded before; of what the
 * bars and the map are, and the way back to the weights.
 */
export function createSourceShare(context: TraceContext): Part {
  const { say } = context;
  const heading = element("h2");
  const parts = ["source", "prefix"].map((name) => element("span", { class: `share-key ${name}` }));
  const number = element("p", { class: "number", testid: "source-share-number" }, ...parts);
  const bars = element("div", { class: "share-bars", testid: "source-share-bars", role: "list" });
  const note = createContributionNote(context);
  const node = element(
    "section",
    { class: "source-share", testid: "source-share" },
    heading,
    bars,
    number,
    note.element,
  );
  const draw = () => {
    const { trace, state } = context;
    const method = shownMethod(context);
    node.hidden = state.shows === "weight" || context.asked.answer !== "";
    if (node.hidden) return;
    note.draw();
    const shares = method && trace.contributions.sourceShare(method);
    for (const part of [heading, bars, number]) part.hidden = !shares;
    if (!shares) return;
    const names = trace.prompt ? ["prompt", "written"] : ["source", "prefix"];
    assign(node, "aria-label", say(`${names[0]}_share`));
    assign(heading, "title", say(`${names[0]}_share_title`));
    node.classList.toggle("many", shares.length > FEW);
    const items = populate(bars, shares.length, barElement);
    items.forEach((item, row) => {
      drawBar(context, item, row, shares[row]);
    });
    const row = state.step - 1;
    const shown = isShown(context, row);
    const facts = shown
      ? factsOf(context, row, shares[row])
      : { token: "", source: "", prefix: "" };
    write(heading, say(shown ? "share_heading" : "share_heading_hidden", facts));
    parts.forEach((part, index) => {
      const share = shown ? ` ${index ? facts.prefix : facts.source} %` : "";
      write(part, `${say(`share_${names[index]}`)}${share}`);
    });
  };
  return { element: node, views: [draw] };
}

function barElement() {
  const bar = element("span", { class: "bar-of-token" }, element("i", { class: "of-source" }));
  return element("div", { role: "listitem" }, bar, element("bdi", { class: "token-name" }));
}

function drawBar(context: TraceContext, item: HTMLElement, row: number, share: number) {
  const [bar, name] = [...item.children] as HTMLElement[];
  const shown = isShown(context, row);
  const facts = factsOf(context, row, share);
  item.classList.toggle("unknown", !shown);
  item.classList.toggle("current", row === context.state.step - 1);
  (bar.firstElementChild as HTMLElement).style.height = shown ? `${share * 100}%` : "0";
  write(name, shown ? labelOf(context.trace.predicted[row]) : "·");
  assign(
    item,
    "title",
    shown
      ? context.say(context.trace.prompt ? "share_of_written" : "share_of_token", facts)
      : context.say("share_hidden"),
  );
}

/** Whether the token that a row predicts is on screen, so that its numbers can be. */
function isShown(context: TraceContext, row: number) {
  const { state, trace } = context;
  const decoded = state.ahead || row < state.step;
  return decoded && trace.predicted[row] !== undefined && !tokenHidden(context, row);
}

/** What a sentence says of a token, in percent with one digit. */
function factsOf({ trace }: TraceContext, row: number, share: number) {
  const source = Math.round(share * 1000) / 10;
  return {
    token: labelOf(trace.predicted[row]),
    step: row + 1,
    source: source.toFixed(1),
    prefix: (100 - source).toFixed(1),
  };
}
