import { assign, element, type Part, populate, write } from "../../dom/js/element.ts";
import { percent } from "../../dom/js/numbers.ts";
import { labelOf, writeToken } from "../../trace/js/label.ts";
import type { Prediction, PredictionRow } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";

/** What has a label for each token; everything else is about the whole text. */
const OF_TOKENS = ["tags", "replaced"];
const SCORE_DIGITS = 4;

/**
 * What a model predicts that predicts no tokens, in place of the candidates: a class, a span, or a
 * tag of each token.
 */
export function createPredictions(context: TraceContext): Part {
  const title = element("h2", { testid: "predictions-title" });
  const list = element("ol", { class: "candidates", testid: "predictions" });
  const note = element("p", { class: "note", testid: "predictions-note" });
  const node = element(
    "section",
    { class: "predictions", testid: "predictions-panel" },
    title,
    list,
    note,
  );
  const draw = () => {
    const { predictions } = context.pieces.header;
    node.hidden = !predictions;
    if (!predictions) return;
    const ofTokens = OF_TOKENS.includes(predictions.kind);
    const heading = context.say(`predicted_${predictions.kind}`);
    write(title, heading);
    assign(node, "aria-label", heading);
    node.classList.toggle("of-tokens", ofTokens);
    const rows = predictions.rows.filter(({ chosen }) => chosen || !ofTokens);
    const items = populate(list, rows.length, rowElement);
    rows.forEach((row, index) => {
      if (ofTokens) drawTag(context, items[index], row, predictions);
      else drawLabel(context, items[index], row);
    });
    write(note, noteOf(context, predictions));
  };
  return { element: node, views: [draw] };
}

/** One row of the list, empty. */
function rowElement() {
  const row = element(
    "div",
    { class: "candidate" },
    element("span", { class: "rank" }),
    element("bdi", { class: "name token" }),
    element("bdi", { class: "tag" }),
    element("span", { class: "track" }, element("span", { class: "share" })),
    element("span", { class: "value" }),
    element("span", { class: "mark" }),
  );
  return element("li", {}, row);
}

/** The parts of a row. */
function partsOf(item: HTMLElement) {
  const row = item.firstElementChild as HTMLElement;
  const [rank, name, tag, track, value, mark] = [...row.children] as HTMLElement[];
  return { row, rank, name, tag, track, value, mark };
}

/** Fill a row with a label of the whole text, or with a span of it. */
function drawLabel(
  { say }: TraceContext,
  item: HTMLElement,
  { label, rank, probability, value, chosen }: PredictionRow,
) {
  const { row, rank: place, name, tag, track, value: number, mark } = partsOf(item);
  write(place, String(rank));
  writeToken(name, label);
  tag.hidden = true;
  row.classList.toggle("chosen", chosen);
  drawShare(track, number, probability, value);
  write(mark, chosen ? "✓" : "");
  assign(mark, "title", chosen ? say("predicted_chosen") : null);
  const said = say("predicted_title", { label, value: value.toPrecision(SCORE_DIGITS) });
  assign(row, "title", said);
}

/** Fill a row with the tag of a token; its title names the next ones. */
function drawTag(
  { pieces }: TraceContext,
  item: HTMLElement,
  { label, start, probability, value }: PredictionRow,
  all: Prediction,
) {
  const token = (pieces.source.length ? pieces.source : pieces.target)[start];
  const { row, rank, name, tag, track, value: number, mark } = partsOf(item);
  write(rank, String(start + 1));
  writeToken(name, token);
  tag.hidden = false;
  write(tag, label);
  row.classList.remove("chosen"); // every row is
  drawShare(track, number, probability, value);
  write(mark, "");
  const own = all.rows.filter((one) => one.start === start);
  const shares = own.map((one) => `${one.label} ${percent(one.probability ?? 0)}`);
  assign(row, "title", `${labelOf(token)}: ${shares.join(", ")}`);
}

/** The bar and the number of a row: its probability or, without one, its score alone. */
function drawShare(
  track: HTMLElement,
  number: HTMLElement,
  probability: number | null,
  value: number,
) {
  track.style.visibility = probability === null ? "hidden" : "";
  (track.firstElementChild as HTMLElement).style.width = `${(probability ?? 0) * 100}%`;
  const score = value.toPrecision(SCORE_DIGITS).replace("-", "−");
  write(number, probability === null ? score : percent(probability));
}

/** How the numbers are to be read. */
function noteOf({ say, pieces }: TraceContext, { kind, rows }: Prediction) {
  if (kind === "score") return say(rows[0]?.probability === null ? "note_score" : "note_sigmoid");
  if (kind !== "span") return say(`note_${kind}`);
  const special = pieces.source.length > 0 && !pieces.header.content.source[0];
  const none = special && rows.find(({ start }) => start === 0);
  return none ? say("note_span_none", { token: labelOf(none.label) }) : say("note_span");
}
