import type { Part } from "../../dom/js/element.ts";
import { assign, element, populate, write } from "../../dom/js/element.ts";
import { scrollIntoSight } from "../../dom/js/inView.ts";
import { LIST_MARGIN } from "../../dom/js/lengths.ts";
import { percent, percentOfLoss } from "../../dom/js/numbers.ts";
import { createRadios } from "../../dom/js/radios.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { anyOf } from "../../dom/js/store.ts";
import { atTemperature, createTemperature } from "../../inside/js/temperature.ts";
import { ASKED, asking, onAsking } from "../../page/js/lessonEvents.ts";
import {
  guessKey,
  guessToken,
  keyChoices,
  tokenHidden,
  weightsHidden,
} from "../../trace/js/guess.ts";
import { labelOf, writeToken } from "../../trace/js/label.ts";
import { asksProbability, currentRow, isGiven, siteOf } from "../../trace/js/stepState.ts";
import type { Candidate, NextView, Trace } from "../../trace/js/trace.ts";
import type { TraceContext } from "../../trace/js/traceContext.ts";
import type { FindAttribution } from "./headParts.ts";
import { createHeadParts, fitHeadParts, offersHeadParts, showsHeadParts } from "./headParts.ts";

const DIGIT = 0.6; // em, of a rank
const FEWEST_CANDIDATES = 3; // with less space than that, the column scrolls
const SURE = 0.99; // where the first is more probable, only so many are listed at first
const ROW = { desk: [20, 52], projector: [30, 64] }; // px, at least and at most
const SMALLEST_SHARE = 1e-6; // where the logarithmic bars begin
/** Sign and sentence of a chosen candidate. */
const CHOSEN: Record<"forced" | "given" | "taken", [string, string]> = {
  forced: ["✎", "forced"],
  given: ["◆", "in_prompt"],
  taken: ["✓", "chosen"],
};

/** The probabilities of the next token; a click forces that token. */
export function createCandidates(context: TraceContext, attribution: FindAttribution): Part {
  const { say } = context;
  const title = element("h2", { testid: "candidates-title" });
  const group = {
    names: ["percent", "log", "heads"],
    prefix: "candidates",
    label: "candidates_scale",
    small: true,
  };
  const radios = createRadios(say, group, (name) => context.set({ nextView: name as NextView }));
  const head = element("header", {}, title, radios.element);
  const list = element("ol", { class: "candidates", testid: "candidates" });
  const others = othersRow(context);
  const note = element("p", { class: "note", testid: "candidates-note", "aria-live": "polite" });
  const typed = createTypedGuess(context);
  const temperature = createTemperature(context);
  const parts = createHeadParts(context, attribution);
  const node = element(
    "section",
    { class: "next-token", "aria-label": say("candidates") },
    head,
    temperature.element,
    list,
    others,
    parts.element,
    typed.element,
    note,
  );
  const draw = () => {
    const row = currentRow(context);
    const hidden = isGuessed(context, row);
    const candidates = listed(context, row);
    node.hidden = context.pieces.header.predictions !== undefined; // which stand in their place
    node.classList.toggle("guessing", hidden);
    node.classList.toggle("guessed", context.state.guess !== null && !hidden);
    radios.element.hidden = hidden;
    drawChoice(context, radios);
    write(title, titleOf(context, row));
    assign(title, "title", title.textContent); // a long one is cut off
    title.hidden = predictsNothing(context.trace);
    const byHeads = !hidden && showsHeadParts(context);
    list.hidden = byHeads || (hidden && asking() !== ""); // then the card offers the choices
    parts.element.hidden = !byHeads;
    write(note, byHeads ? parts.draw() : candidateNote(context, row, candidates));
    assign(node, "aria-label", title.hidden ? (note.textContent ?? "") : say("candidates"));
    const items = populate(list, candidates.length, () => candidateElement(context));
    candidates.forEach((candidate, index) => {
      drawCandidate(context, items[index], candidate, hidden);
      if (asksProbability(row) && candidate.chosen) hideProbability(items[index]);
    });
    typed.update(hidden && !weightsHidden(context) && !asking());
    temperature.update();
    temperature.element.hidden ||= byHeads; // which is of the logits themselves
  };
  const inside = ["inside", "temperature", "vectors", "layer"]; // of the temperature
  onAsking(() => context.touch("asking"), context.signal);
  const lead = leadToChoices(context, node);
  const heads = ["nextView", "head", "shows", "theme"];
  const causes = [
    "trace",
    "site",
    "step",
    "projector",
    "guess",
    "asking",
    "allCandidates",
    ...inside,
    ...heads,
  ];
  const update = (changed: Set<string>) => {
    if (anyOf(changed, ...causes)) draw();
    if (!anyOf(changed, ...causes, "ahead", "size", "alignment")) return;
    const row = currentRow(context);
    const guessed = isGuessed(context, row);
    const all = listed(context, row);
    const hidden = fitCandidates(context, node, list, all, guessed);
    drawOthers(context, others, guessed || showsHeadParts(context) ? [] : all, hidden);
    drawFold(context, others, isSure(context, all));
    fitHeadParts(context, node.parentElement as HTMLElement);
    lead(changed);
  };
  return { element: node, update };
}

/**
 * Where the choices are far below Guess, scroll to them when guessing begins; not where a link or a
 * lesson begins it.
 */
function leadToChoices(
  { root, state }: TraceContext,
  node: HTMLElement,
): (changed: Set<string>) => void {
  let before = state.guess !== null;
  return (changed) => {
    const begins = state.guess !== null && !before && !anyOf(changed, "trace", "look");
    before = state.guess !== null;
    if (begins && root.dataset.narrow !== undefined)
      requestAnimationFrame(() => scrollIntoSight(root, node, "start"));
  };
}

/** The choice of what is shown of the next token; the parts of heads only where there are such. */
function drawChoice(context: TraceContext, { buttons, check }: ReturnType<typeof createRadios>) {
  const { nextView } = context.state;
  const offered = offersHeadParts(context) && asking() === "";
  buttons.heads.hidden = !offered;
  assign(buttons.heads, "aria-disabled", offered ? null : "true");
  check(nextView === "heads" && !offered ? "percent" : nextView);
}

/**
 * The row of all tokens that are not listed. Where the model is sure of the first, a click lists them
 * as far as there is space, and another one hides them.
 */
function othersRow(context: TraceContext) {
  const { say, state } = context;
  return element(
    "button",
    {
      type: "button",
      class: "candidate others",
      testid: "candidates-others",
      on: {
        click: ({ currentTarget }) => {
          const button = currentTarget as HTMLElement;
          if (button.getAttribute("aria-disabled") === null)
            context.set({ allCandidates: !state.allCandidates });
        },
      },
    },
    element("span", { class: "name" }, say("all_others"), element("span", { class: "fold" })),
    element("span", { class: "value" }),
  );
}

/** Whether the model is so sure of the first candidate that the others tell little. */
function isSure(context: TraceContext, candidates: Candidate[]) {
  const first = candidates.find(({ rank }) => rank === 1);
  return first !== undefined && atTemperature(context, first.probability) > SURE;
}

/** Say on the row of the others whether a click lists or hides them. */
function drawFold({ state, say }: TraceContext, others: HTMLElement, sure: boolean) {
  const { allCandidates } = state;
  write(others.querySelector(".fold") as Node, sure ? (allCandidates ? " ▴" : " ▾") : "");
  assign(others, "aria-disabled", sure ? null : "true");
  assign(others, "aria-expanded", sure ? String(allCandidates) : null);
  assign(
    others,
    "title",
    sure ? say(allCandidates ? "fewer_candidates" : "more_candidates") : null,
  );
}

/**
 * Show as many rows as the column has space for, always including the chosen one, and make them
 * as high as the space allows; at first three where the model is sure of the first. While they are
 * guessed all are shown: which are left would tell something.
 * @param candidates in the order of the list
 * @returns for each candidate, whether it is hidden
 */
function fitCandidates(
  context: TraceContext,
  node: HTMLElement,
  list: HTMLElement,
  candidates: Candidate[],
  guessed: boolean,
): boolean[] {
  const { root, state } = context;
  const items = [...list.children].filter((item) => item instanceof HTMLElement);
  const fitted = root.dataset.narrow === undefined && items.length > 0;
  const [smallest, largest] = ROW[state.projector ? "projector" : "desk"];
  const space = fitted ? spaceForRows(node) : Infinity;
  const fit = Math.max(FEWEST_CANDIDATES, Math.floor(space / smallest) - 1); // one is of the others
  const room = guessed ? items.length : Math.min(items.length, fit);
  const folded = !guessed && !state.allCandidates && isSure(context, candidates);
  const most = folded ? Math.min(room, FEWEST_CANDIDATES) : room;
  const height = Math.min(Math.max(space / (room + 1), smallest), largest);
  node.style.setProperty("--row-height", fitted ? `${Math.floor(height)}px` : "");
  const ranks = candidates.map(({ rank }) => rank).sort((one, other) => one - other);
  const last = candidates.find(({ chosen }) => chosen)?.rank ?? 0;
  const first = ranks.indexOf(last) >= most ? most - 1 : most; // so many of the best ranks are shown
  const digits = String(Math.max(last, ranks[first - 1] ?? 0)).length;
  node.style.setProperty("--rank", `${DIGIT * digits}em`);
  return items.map((item, index) => {
    const { rank, chosen } = candidates[index];
    const hidden = ranks.indexOf(rank) >= first && !chosen;
    if (item.hidden !== hidden) item.hidden = hidden;
    return hidden;
  });
}

/** The probability of all tokens without a row, so that the rows add up to 100 %. */
function drawOthers(
  context: TraceContext,
  others: HTMLElement,
  candidates: Candidate[],
  hidden: boolean[],
) {
  others.hidden = candidates.length === 0;
  const shown = candidates.filter((_, index) => !hidden[index]);
  const rest = shown.reduce(
    (left, { probability }) => left - atTemperature(context, probability),
    1,
  );
  write(others.lastElementChild as Node, percent(Math.max(rest, 0)));
}

/** The height that the column has for rows, px. */
function spaceForRows(node: HTMLElement) {
  const column = node.parentElement as HTMLElement;
  const gap = parseFloat(getComputedStyle(column).rowGap) || 0;
  const heightOf = (part: Element | null) => part?.getBoundingClientRect().height ?? 0;
  const others = [...column.children].filter(
    (other) => other !== node && !other.hasAttribute("hidden"),
  );
  const taken = others.reduce((sum, other) => sum + heightOf(other) + gap, 0);
  const around = [
    ":scope > header",
    ":scope > .temperature",
    ":scope > .note",
    ":scope > .typed-guess",
  ]
    .map((part) => heightOf(node.querySelector(part)))
    .reduce((sum, height) => sum + height);
  return column.clientHeight - taken - around - LIST_MARGIN;
}

/** Whether the choices of a guess stand in the place of the candidates after a row. */
function isGuessed(context: TraceContext, row: number) {
  return weightsHidden(context) || tokenHidden(context, row);
}

/** What the candidates are of. */
export function titleOf(context: TraceContext, row: number) {
  const { trace, say } = context;
  if (weightsHidden(context))
    return say("candidates_keys", { token: labelOf(siteOf(context).queryTokens[row]) });
  if (trace.masks.length) return say("candidates_mask", { position: row + 1 });
  return row < 0
    ? say("candidates")
    : say("candidates_after", { token: labelOf(trace.target[row]) });
}

/** The note under the list: why it is empty, or what a click does. */
function candidateNote(context: TraceContext, row: number, candidates: Candidate[]) {
  const { trace, say, state } = context;
  if (state.guess && row >= 0) return guessNote(context, row);
  if (state.site === "encoder" && row < 0) return encoderNote(trace, say);
  const about = trace.rows?.length ? [say("first_pieces")] : [];
  const offered = state.whatIf && !state.projector;
  if (isGiven(trace, row)) return say("candidates_prompt", { step: trace.prompt });
  if (candidates.length)
    return [
      ...about,
      ...(offered ? [say(trace.masks.length ? "what_if_mask" : "what_if")] : []),
    ].join(" ");
  return row >= 0 && trace.predicted[row] !== undefined
    ? say("no_candidates")
    : say("no_predictions");
}

/**
 * While guessing: the question of this step, unless the card of a lesson asks, and how the last
 * guess was.
 */
function guessNote(context: TraceContext, row: number) {
  const { say, trace, state } = context;
  const answer = state.guess?.answer;
  const facts = { given: labelOf(answer?.given ?? ""), token: labelOf(trace.predicted[row] ?? "") };
  const ending = answer?.right ? "_right" : "_wrong";
  const verdict = answer
    ? say(`guess_${answer.kind}${answer.kind === "forced" ? "" : ending}`, facts)
    : "";
  return [verdict, asking() ? "" : guessQuestion(context, row)].filter(Boolean).join(" ");
}

/** What is to be guessed at this step; "" where nothing is hidden. */
function guessQuestion(context: TraceContext, row: number) {
  const { say } = context;
  if (weightsHidden(context)) return say("guess_where");
  return tokenHidden(context, row) ? say("guess_what") : "";
}

/**
 * The candidates after a row, most probable first; while they are guessed, in the order of the
 * alphabet, which tells nothing. While a key is guessed, the keys.
 */
function listed(context: TraceContext, row: number): Candidate[] {
  const { trace } = context;
  if (weightsHidden(context)) return keyCandidates(context);
  const candidates = row < 0 ? [] : trace.candidates[row];
  if (!tokenHidden(context, row)) return candidates;
  const tokens = alphabetical(candidates.map(({ token }) => token));
  return [...candidates].sort(
    (one, other) => tokens.indexOf(one.token) - tokens.indexOf(other.token),
  );
}

/** The keys of the current row as rows of the list; their ids are their positions. */
function keyCandidates(context: TraceContext): Candidate[] {
  const { keyTokens } = siteOf(context);
  const unknown = { probability: 0, chosen: false, forced: false, given: false };
  return keyChoices(context).map((id, index) => ({
    ...unknown,
    id,
    token: keyTokens[id],
    rank: index + 1,
  }));
}

/** The distinct tokens in the order of the alphabet. */
export function alphabetical(tokens: string[]) {
  return [...new Set(tokens)].sort((one, other) => labelOf(one).localeCompare(labelOf(other)));
}

/** A box to type the guess into. */
function createTypedGuess(context: TraceContext) {
  const { say } = context;
  const box = element("input", {
    type: "text",
    class: "field",
    testid: "typed-guess",
    "aria-label": say("typed_guess"),
    placeholder: say("typed_guess"),
    autocomplete: "off",
    maxlength: 60,
  });
  const node = element("form", { class: "typed-guess" }, box);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!box.value.trim()) return;
    context.set(guessToken(context, box.value.trim()));
    box.value = "";
    context.root.focus({ preventScroll: true }); // → goes on
  });
  const update = (hidden: boolean) => {
    node.hidden = !hidden;
  };
  return { element: node, update };
}

/** Whether there is no token to come: an encoder alone, of which no masks are filled in. */
function predictsNothing({ target, masks }: Trace) {
  return !target.length && !masks.length;
}

/** Why an encoder has no candidates. */
function encoderNote({ target, header }: Trace, say: Say) {
  if (target.length) return say("candidates_encoder");
  const { mask } = header.facts;
  return mask ? say("candidates_no_mask", { mask }) : say("candidates_encoder_only");
}

/** The length of a bar, 0..1. */
export function barShare(view: NextView, probability: number) {
  if (view !== "log") return probability;
  const least = Math.max(probability, SMALLEST_SHARE);
  return Math.max(0, 1 - Math.log10(least) / Math.log10(SMALLEST_SHARE));
}

/** One row of the list, empty. */
function candidateElement(context: TraceContext) {
  const button = element(
    "button",
    {
      type: "button",
      class: "candidate",
      on: {
        click: () => {
          const { guess, whatIf } = context.state;
          const enabled = whatIf && !guess && button.getAttribute("aria-disabled") === null;
          const token = button.dataset.token ?? "";
          const key = weightsHidden(context) ? Number(button.dataset.id) : -1;
          if (guess) context.set(key < 0 ? guessToken(context, token) : guessKey(context, key));
          if (enabled) context.act.force(context.state.step, Number(button.dataset.id));
        },
      },
    },
    element("span", { class: "rank" }),
    element("bdi", { class: "name token" }),
    element("span", { class: "track" }, element("span", { class: "share" })),
    element("span", { class: "value" }),
    element("span", { class: "mark" }),
  );
  return element("li", {}, button);
}

/**
 * Fill one row.
 * @param hidden whether only its name is shown
 */
function drawCandidate(
  context: TraceContext,
  item: HTMLElement,
  candidate: Candidate,
  hidden: boolean,
) {
  const { state, say, trace } = context;
  const button = item.firstElementChild as HTMLElement;
  const [rank, name, track, value, mark] = [...button.children] as HTMLElement[];
  writeToken(name, candidate.token);
  button.dataset.id = String(candidate.id);
  button.dataset.token = candidate.token;
  button.classList.toggle("chosen", candidate.chosen && !hidden);
  if (hidden) {
    for (const node of [rank, value, mark]) write(node, "");
    (track.firstElementChild as HTMLElement).style.width = "0";
    for (const name of ["aria-disabled", "tabindex"]) assign(button, name, null);
    const position = Number(candidate.id) + 1;
    const where = weightsHidden(context);
    assign(button, "title", where ? say("guess_this_key", { position }) : say("guess_this"));
    assign(mark, "title", null);
    return;
  }
  const probability = atTemperature(context, candidate.probability);
  const share = barShare(state.nextView, probability);
  write(rank, String(candidate.rank));
  (track.firstElementChild as HTMLElement).style.width = `${share * 100}%`;
  write(value, percent(probability));
  const [sign, meaning] = candidate.chosen ? CHOSEN[howChosen(candidate)] : ["", null];
  write(mark, sign);
  assign(mark, "title", meaning && say(meaning));
  const enabled = state.whatIf && !state.guess && !candidate.chosen && !candidate.given;
  assign(button, "aria-disabled", enabled ? null : "true");
  const why = candidate.chosen ? "taken" : whyEnabled(enabled, candidate, trace);
  const facts = { token: labelOf(candidate.token), probability: percent(probability) };
  const loss = probability > 0 ? (-Math.log(probability)).toFixed(2) : "∞";
  const exact = { ...facts, probability: percentOfLoss(probability, loss), loss };
  assign(button, "title", `${say("candidate_title", exact)} ${say(why, facts)}`);
  assign(button, "tabindex", enabled ? null : "-1");
}

/** Put "?" in the place of a probability that a card of a lesson asks. */
function hideProbability(item: HTMLElement) {
  const button = item.firstElementChild as HTMLElement;
  write(button.querySelector(".value") as Node, ASKED);
  assign(button, "title", null);
}

/** How a chosen candidate came to be chosen. */
function howChosen({ forced, given }: Candidate): keyof typeof CHOSEN {
  if (forced) return "forced";
  return given ? "given" : "taken";
}

/** The sentence on what a click on a candidate that was not chosen does, or why it does nothing. */
function whyEnabled(enabled: boolean, { given }: Candidate, { masks }: Trace) {
  if (given) return "in_prompt";
  if (!enabled) return "no_what_if";
  return masks.length ? "what_if_mask_title" : "what_if_title";
}
