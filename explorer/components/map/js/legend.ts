import { drawn } from "../../dom/js/drawing.ts";
import { element, type Part, populate, write } from "../../dom/js/element.ts";
import { createExplanation } from "../../dom/js/explanation.ts";
import { createSmallSelect } from "../../dom/js/smallSelect.ts";
import { markTerm, type Term, termEntry } from "../../dom/js/terms.ts";
import { LEVELS, type Palette } from "../../page/js/palette.ts";
import { goldSite } from "../../trace/js/headScores.ts";
import { PADDING } from "../../trace/js/label.ts";
import { SHOWN_MAPS, SITES } from "../../trace/js/look.ts";
import { SCALES, type Scale, scaleMarks, scaleOf } from "../../trace/js/scale.ts";
import { isSimple, shownHead, shownMethod, siteOf } from "../../trace/js/stepState.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import { offers, offersMethod } from "../../trace/js/traceQuestions.ts";
import { paintRamp } from "./bitmap.ts";
import { definitions, MASK_CODES, maskedFills } from "./pattern.ts";
import { createShownChoice } from "./shownChoice.ts";

/** The technical words around a map; some open where they stand, and a key reaches all of them here. */
const TERMS: Term[] = [
  ...["term_attention", "weight", "term_query", "term_key", "term_value"],
  ...["term_token", "term_head", "term_layer"],
  ...SITES.map((site) => `site_${site}`),
  ...["term_mask", PADDING, "term_bos", "term_eos", "term_softmax"],
];
const SHARES = ["source_share", "contribution_check"];
const ALIGNMENTS = ["alignment_prediction", "alignment_input"];

/** Under the map: the colour bar with its scale, and the reasons of masked cells. */
export function createLegend(context: TraceContext): Part {
  const { say } = context;
  const shown = createShownChoice(context);
  const bar = element("canvas", { class: "ramp", width: LEVELS, height: 1, "aria-hidden": "true" });
  const marks = element("div", { class: "marks", testid: "scale-marks" });
  const scales = createSmallSelect(
    context,
    { names: SCALES, prefix: "scale_", label: "scale" },
    (scale) => context.set({ scale: scale as Scale }),
  );
  const words = createExplanation(
    "legend-words",
    { label: say("legend_words"), close: say("words_close") },
    () => entries(context),
  );
  const reasons = element("div", { class: "reasons", testid: "reasons" });
  const node = element(
    "div",
    { class: "legend" },
    shown.element,
    element("div", { class: "bar-box" }, bar, marks),
    scales.element,
    words.element,
    reasons,
  );
  let listed = ""; // the reasons
  const paintBar = () => paintRamp(bar, context.palette.ramp);
  const listReasons = () => {
    const { state, palette, trace } = context;
    const codes = siteOf(context).masked(state.layer, shownHead(state));
    const shown = MASK_CODES.filter((code) => codes.includes(code));
    const elsewhere = Object.values(trace.sites).flatMap((site) => site.reasons);
    const absent = MASK_CODES.filter((code) => elsewhere.includes(code) && !shown.includes(code));
    const now = JSON.stringify([shown, absent, palette.key]);
    if (listed === now) return;
    listed = now;
    reasons.replaceChildren(
      ...shown.map((code) => reasonKey(context, code, true)),
      ...absent.map((code) => reasonKey(context, code, false)), // their space stays free
    );
  };
  const drawScale = () => {
    const site = siteOf(context);
    const scale = scaleOf(context.state, site);
    writeMarks(marks, scaleMarks(scale, site.scale));
    scales.check(scale);
    scales.element.hidden = isSimple(context) && scale === SCALES[0]; // else its name is needed
  };
  const views = [...(shown.views ?? []), paintBar, drawScale, listReasons];
  return { element: node, views };
}

/** What the words, colours and marks around the map on screen mean, and what else it can show. */
function entries(context: TraceContext) {
  const { say, trace } = context;
  const shown = Object.values(trace.sites).flatMap(({ reasons }) => reasons);
  const codes = MASK_CODES.filter((code) => shown.includes(code));
  const reasons = codes.map((code) => reasonWord(context, code));
  const choices = isSimple(context) ? [] : choiceWords(context);
  const words = [...new Set([...TERMS, ...choices, ...reasons])].map((name) =>
    termEntry(name, say),
  );
  return [...words, { name: say("keys_name"), text: say("keys_title") }];
}

/** The words of what a map can show, which Simple leaves out. */
function choiceWords(context: TraceContext) {
  const { state, trace } = context;
  const method = shownMethod(context);
  const offered = offers(context, "contributions");
  const others = SHOWN_MAPS.filter((one) => one !== method && offersMethod(context, one));
  const cross = state.site === "cross";
  return [
    ...(method ? [method, ...SHARES] : []),
    ...SCALES.map((scale) => `scale_${scale}`),
    ...(cross && trace.header.source.length ? ALIGNMENTS : []),
    ...(state.site === goldSite(trace) ? ["gold_weight"] : []),
    ...(offered ? [...others, ...(method ? [] : SHARES)] : ["not_computed"]),
  ];
}

/** The word for the reason of a masked cell. */
function reasonWord({ trace }: TraceContext, code: number) {
  const reason = `reason_${trace.header.reasons[code].replaceAll(" ", "_")}`;
  return reason === "reason_padding" ? PADDING : reason;
}

/**
 * Write the marks of a colour bar.
 * @param marks tone 0..1, text
 */
export function writeMarks(parent: HTMLElement, marks: [number, string][]) {
  const spans = populate(parent, marks.length, () => element("span"));
  marks.forEach(([tone, text], index) => {
    write(spans[index], text);
    spans[index].style.left = `${tone * 100}%`;
  });
}

/**
 * A small masked cell and its reason.
 * @param shown else its space stays free
 */
function reasonKey(context: TraceContext, code: number, shown: boolean) {
  const { palette, say } = context;
  const word = reasonWord(context, code);
  const swatch = swatchOf(palette, code);
  const name = element("span", {}, say(word));
  markTerm(name, word === PADDING ? PADDING : "term_mask");
  return element(
    "span",
    { class: shown ? "reason-key row" : "reason-key row absent", title: say(`${word}_title`) },
    swatch,
    name,
  );
}

/** A masked cell. */
function swatchOf(palette: Palette, code: number) {
  const place = { width: 24, height: 16 };
  const cells = maskedFills(palette, code).map((fill) => drawn("rect", { ...place, fill }));
  const looks = { class: "swatch", ...place, "aria-hidden": "true" };
  return drawn("svg", looks, definitions(palette, [code]), ...cells);
}
