/** What the page says about a text: what it waits for, why a text is not shown, what to look at. */

import { ModelError } from "../../browser_model/js/modelError.ts";
import { assign, element, write } from "../../dom/js/element.ts";
import { fillIn } from "../../dom/js/sentences.ts";
import { isSpecial } from "../../trace/js/label.ts";
import { LONGEST_SYMBOL, LONGEST_TEXT } from "../../trace/js/look.ts";
import type { Trace } from "../../trace/js/trace.ts";
import { rangesOf } from "../../trace/js/verbs.ts";
import { type LiveModel, reads, unchanged } from "./liveModel.ts";
import type { LiveRequest } from "./modelWorker.ts";
import type { PageData } from "./pageData.ts";
import { modelOf, type PageState, shownRequest } from "./pageState.ts";
import { ServerError } from "./serverError.ts";
import { textNote } from "./textNotes.ts";

const LONGEST_NAMED = 2 * LONGEST_SYMBOL; // characters of a text that is repeated in a message

const LONGEST_IN_HEADER = 200; // characters of a hint in the header of the app's page

/** @param place of the picture, which pales while a text is waited for */
export function createMessages(state: Readonly<PageState>, data: PageData, place: HTMLElement) {
  const intro = element("p", { class: "hint", testid: "intro" });
  const hint = element("p", { class: "hint", testid: "text-hint" });
  const status = element("p", { class: "status", role: "status", testid: "status" });
  const message = element("p", { class: "message", role: "alert", testid: "message" });
  const draw = () => {
    const { asked, onScreen, unread, introduced, problem, language } = state;
    const known = introduced || data.server || asked.key || (problem && !onScreen); // the app has its own
    const introducing = known ? "" : modelOf(data.models, asked.request).intro[language];
    write(intro, introducing);
    const said = unread ? "" : (onScreen?.hint ?? ""); // of another text than that in the box
    hint.classList.toggle("long", (onScreen?.hint.length ?? 0) > LONGEST_IN_HEADER);
    const model = data.models.find(({ name }) => name === onScreen?.request?.model); // or deleted
    const scored = model?.scored?.[language];
    const [does, look] = isExample(model, onScreen?.hint, language)
      ? parted(notSaidTwice(said, introducing), model?.about?.[language] ?? "")
      : [notSaidTwice(said, introducing), ""];
    writeParts(hint, does, look);
    hint.classList.toggle("example", !does);
    assign(hint, "title", scored && !hint.textContent?.includes(scored) ? scored : null);
    const shown = shownRequest(state);
    const why = unread ? refusedSentence(data, language, unread.error, unread.request, shown) : "";
    const told = [problem, why].filter(Boolean).join(" ");
    if (message.textContent === told) return;
    write(message, told);
    if (told) message.scrollIntoView({ block: "nearest" }); // who sends a text may be further down
  };
  const drawWait = () => {
    for (const part of [place, hint]) part.classList.toggle("waiting", state.late);
    write(status, state.late ? waitSentence(state, data, state.language) : "");
    assign(status, "data-waited", waitedSentence(state, data, state.language));
  };
  /** The sentences, and among them the controls that they are about. */
  const around = (controls: HTMLElement) => [intro, controls, hint, status, message];
  return { around, views: [draw, drawWait] };
}

/** Whether a hint says what to look at in an example. */
function isExample(model: LiveModel | undefined, hint: string | undefined, language: string) {
  return model?.examples.some((example) => example.hint[language] === hint) ?? false;
}

/** A hint, without a first sentence on what the model does that begins the introduction, too. */
export function notSaidTwice(hint: string, introduction: string) {
  const [does, rest] = parted(hint, introduction);
  return does ? rest : hint;
}

/** A hint on an example: what the model does, if it begins with that, and what to look at. */
function parted(hint: string, about: string) {
  const [first] = hint.split(/(?<=[.。])/u, 1);
  return about.startsWith(first) ? [first, hint.slice(first.length).trim()] : ["", hint];
}

/** Write both; what to look at is hidden while a person guesses. */
function writeParts(hint: HTMLElement, does: string, look: string) {
  const text = [does, look].filter(Boolean).join(" ");
  if (hint.textContent === text) return;
  const example = look ? [element("span", { class: "example" }, look)] : [];
  hint.replaceChildren(does && look ? `${does} ` : does, ...example);
}

/** What a person waits for: the file of the model that was chosen, or its output. */
function waitSentence(
  { asked, decoded, loaded, opening }: PageState,
  { models, strings }: PageData,
  language: string,
) {
  const { live, explore, class_tools } = strings[language];
  if (asked.key) return fillIn(class_tools, "trace_loading");
  const name = asked.request.model;
  if (loaded) return fillIn(live, "loading", { name, ...loaded });
  if (opening && modelOf(models, asked.request).library)
    return fillIn(explore, "opening", { name });
  return decoded || fillIn(live, "computing", { name });
}

/** How long a person has waited, from two seconds on; it is shown, but not read out each second. */
export function waitedSentence(
  { late, waited, took, decoded, loaded }: PageState,
  { strings }: PageData,
  language: string,
) {
  if (!late || waited < 2 || decoded || loaded) return null;
  const { live } = strings[language];
  const seconds = waited;
  if (took === null || took < 2) return fillIn(live, "waited", { seconds });
  return fillIn(live, "waited_of", { seconds, last: Math.round(took) });
}

/**
 * What the server has to say of a trace; else what to look at in an example; of another text what the
 * model does not know of it; else what the model does.
 */
export function hintOf(
  { header }: Trace,
  request: LiveRequest,
  { models, strings }: PageData,
  language: string,
) {
  const model = modelOf(models, request);
  const edited = request.interventions.length > 0; // then it no longer does what a hint says
  const example = edited ? undefined : model.examples.find(({ text }) => text === request.text);
  const said = header.notes || example?.hint[language];
  if (said) return said;
  const about = model.about?.[language] ?? "";
  if (example || model.library || model.words !== null) return about;
  const tokens = header.source.length ? header.source : header.target.slice(0, header.prompt);
  const length = tokens.filter((token) => !isSpecial(token)).length;
  const note = textNote(model, request.text, tokens, length);
  return note ? fillIn(strings[language].explore, note.key, note.facts) : about;
}

/** @param request that failed */
export function errorSentence(
  { models, strings }: PageData,
  language: string,
  error: unknown,
  { text }: LiveRequest,
) {
  const { live, errors } = strings[language];
  if (error instanceof ModelError && error.facts.sentence) return String(error.facts.sentence);
  if (!(error instanceof ModelError && error.key)) {
    const problem = String((error instanceof ModelError && error.facts.problem) || error);
    return fillIn(live, "unexpected", { problem });
  }
  const { query } = error.facts; // from 0; on the page from 1
  const facts = { ...error.facts, ...(typeof query === "number" && { query: query + 1 }) };
  const said = fillIn({ ...errors, ...live }, error.key, facts);
  const other = models.find((one) => !one.symbols.length && !one.library && reads(one, text));
  if (error.key !== "unknown_symbol" || !other) return said;
  return `${said} ${fillIn(live, "choose_translator", { name: other.name })}`;
}

/**
 * Why a request is not shown. With a server it names what is shown instead, if that is another text
 * or is read another way.
 * @param asked what failed
 */
export function refusedSentence(
  data: PageData,
  language: string,
  error: unknown,
  asked: LiveRequest,
  shown: LiveRequest | null,
) {
  const reason = errorSentence(data, language, error, asked);
  const same = shown && JSON.stringify(unchanged(shown)) === JSON.stringify(unchanged(asked));
  if (!data.server || !shown || same || error instanceof ServerError) return reason;
  const { explore } = data.strings[language];
  const { model, pair, pad } = shown;
  if (model !== asked.model) return fillIn(explore, "shown_instead", { reason, model });
  const texts = { text: shorten(shown.text), pair: shorten(pair ?? "") };
  let text = fillIn(explore, pair ? "shown_pair" : "shown_text", texts);
  if (pad !== asked.pad) {
    const padding = fillIn(explore, "pad_choice", { count: pad });
    text = fillIn(explore, "shown_padding", { text, padding });
  }
  return fillIn(explore, "shown_text_of", { reason, text, model });
}

function shorten(text: string) {
  const characters = [...text];
  return characters.length > LONGEST_NAMED
    ? `${characters.slice(0, LONGEST_NAMED).join("")}…`
    : text;
}

/** @param names of parameters of a link that could not be followed */
export function refusalSentence(
  { strings, gone }: Pick<PageData, "strings" | "gone">,
  language: string,
  names: string[],
): string {
  const { live, explore } = strings[language];
  if (gone && names.includes("model")) {
    const others = names.filter((name) => name !== "model");
    const rest = others.length ? [refusalSentence({ strings }, language, others)] : [];
    return [fillIn(live, "trained_gone", { name: gone }), ...rest].join(" ");
  }
  const facts = { longest: LONGEST_TEXT, ...rangesOf("draw") };
  const parts = names.map((name) => {
    const [word, ...got] = name.split(" ");
    return fillIn(explore, `part_${word}`, { ...facts, got: got.join(" ") });
  });
  return fillIn(explore, "link_refused", { parts: parts.join(explore.part_separator) });
}
