/**
 * The row of controls: model, source, second text, how a model of the library reads them, random
 * text, examples and padding. They change the latest request, whether it is on screen or its model is
 * still on its way.
 */

import { buttonElement, element, type Part, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { MOST_PADDING } from "../../trace/js/look.ts";
import { type LiveModel, randomText, requestAfter, requestOfText } from "./liveModel.ts";
import { createFetchLines, fetchLabel, type ModelFetch } from "./modelFetch.ts";
import type { LiveRequest } from "./modelWorker.ts";
import { modelOf, type PageState, type PageStore } from "./pageState.ts";
import { createReadingChoice } from "./readingChoice.ts";
import { select } from "./select.ts";

interface InputBar extends Part {
  focus: () => void; // type into the text box, after its text
}

interface InputListeners {
  onRequest: (request: LiveRequest, typed: boolean) => void; // typed: sent from the text box
  onEdit: (request: LiveRequest) => void; // of the text that is changed, not sent
  fetcher?: ModelFetch; // where the server fetches models
}

/** @param say in the language of the state */
export function createInputBar(
  models: LiveModel[],
  store: PageStore,
  say: Say,
  listeners: InputListeners,
): InputBar {
  const { values: state, set } = store;
  const send = (request: LiveRequest, typed = false) => {
    set({ draft: null, pairDraft: null });
    listeners.onRequest(request, typed);
  };
  /** A text with the second one that is in its box. */
  const requestOf = (text: string) => {
    const { pairDraft, asked } = state;
    const pair = pairDraft?.trim() === "" ? "" : (pairDraft ?? asked.request.pair);
    return { ...requestOfText(asked.request, text), pair };
  };
  const current = () => modelOf(models, state.asked.request);

  const source = createSource(models, store, say, {
    onRequest: (text) => send(requestOf(text), true),
    onEdit: (text) => listeners.onEdit(requestOf(text)),
  });
  const model = createModelChoice(models, store, say, (chosen) => {
    const { draft, asked } = state;
    const text = draft ?? asked.request.text;
    const next = requestAfter(chosen, current(), { text, pair: requestOf(text).pair });
    const typed = draft?.trim() ? draft : next.text; // which symbols refuse with a sentence
    send(chosen.symbols.length ? { ...next, text: typed } : next);
  });
  const drawText = () => send(requestOf(randomText(current(), state.asked.request.text)));
  const random = buttonElement(drawText, { testid: "random" }, say("random"));
  const drawRandom = () => {
    random.disabled = !current().draws;
  };
  const reading = createReadingChoice(state, say, (chosen) => {
    const { draft, asked } = state;
    send({ ...requestOf(draft ?? asked.request.text), reading: chosen });
  });
  const examples = createExamples(models, state, say, (text) => send(requestOf(text)));
  const padding = createPadding(models, state, say, (pad) => {
    const { draft, asked } = state;
    const next = requestOf(draft ?? asked.request.text);
    send({ ...(sameTexts(next, asked.request) ? asked.request : next), pad });
  });
  const { fetcher } = listeners;
  const fetches = fetcher ? [createFetchLines(store, say, fetcher)] : [];
  const parts = [model, source, reading, examples, padding, ...fetches];
  const root = element(
    "div",
    { class: "input-row", testid: "input-row" },
    model.element,
    source.element,
    reading.element,
    random,
    examples.element,
    padding.element,
  );
  const views = [...parts.flatMap((part) => part.views ?? []), drawRandom];
  const whole = element("div", {}, root, ...fetches.map((lines) => lines.element));
  return { element: whole, views, focus: source.focus };
}

function sameTexts(one: LiveRequest, other: LiveRequest) {
  return one.text === other.text && one.pair === other.pair;
}

/** The name of the only model, or a choice. */
function createModelChoice(
  models: LiveModel[],
  { values: state, set }: PageStore,
  say: Say,
  onChoose: (model: LiveModel) => void,
): Part {
  const { fetches } = state;
  if (models.length + fetches.length === 1)
    return { element: element("strong", { testid: "model-name" }, models[0].name) };
  const choice = select(say("model"), "model", models, (one) => [
    one.name,
    one.label[state.language],
  ]);
  const unfetched = fetches.map(({ name }) => element("option", { value: name }));
  choice.append(...unfetched);
  choice.addEventListener("change", () => {
    const fetching = fetches.some(({ name }) => name === choice.value) ? choice.value : "";
    set({ fetching });
    if (!fetching) onChoose(modelOf(models, { model: choice.value }));
  });
  const draw = () => {
    for (const [at, entry] of state.fetches.entries()) write(unfetched[at], fetchLabel(entry, say));
    choice.value = state.fetching || state.asked.request.model;
  };
  return { element: choice, views: [draw] };
}

/** The text box, that of a second text for a model that reads one, and the button that sends them. */
function createSource(
  models: LiveModel[],
  { values: state, set }: PageStore,
  say: Say,
  { onRequest, onEdit }: Record<"onRequest" | "onEdit", (text: string) => void>,
): InputBar {
  const source = textBox("source", say("source"));
  source.addEventListener("input", () => {
    set({ draft: source.value });
    onEdit(source.value);
  });
  const pair = textBox("pair", say("pair"));
  pair.placeholder = say("pair_hint");
  pair.addEventListener("input", () => {
    set({ pairDraft: pair.value });
    onEdit(source.value);
  });
  const go = element("button", { type: "submit", testid: "go", title: say("go_title") }, say("go"));
  const form = element("form", { class: "source", testid: "source-form" }, source, pair, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onRequest(source.value);
  });
  const draw = () => {
    const { draft, pairDraft, asked, language } = state;
    const { placeholder, words } = modelOf(models, asked.request);
    fill(source, words ?? draft ?? asked.request.text);
    source.placeholder = placeholder[language];
    source.disabled = go.disabled = words !== null;
    pair.hidden = asked.request.pair === null;
    fill(pair, pairDraft ?? asked.request.pair ?? "");
    const edited = (typed: string | null, sent: string | null) => typed !== null && typed !== sent;
    const ready = edited(draft, asked.request.text) || edited(pairDraft, asked.request.pair);
    go.classList.toggle("primary", ready);
  };
  const focus = () => {
    source.focus();
    source.setSelectionRange(source.value.length, source.value.length);
  };
  return { element: form, views: [draw], focus };
}

function textBox(testid: string, label: string) {
  return element("input", {
    type: "text",
    testid,
    "aria-label": label,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "go",
  });
}

/** Leave the box alone in which a person types what it is to hold. */
function fill(box: HTMLInputElement, text: string) {
  if (box.value !== text) box.value = text;
}

function createExamples(
  models: LiveModel[],
  state: Readonly<PageState>,
  say: Say,
  onChoose: (text: string) => void,
): Part {
  const examples = element("select", { testid: "examples", "aria-label": say("examples") });
  examples.addEventListener("change", () => {
    if (examples.value) onChoose(examples.value);
    examples.value = "";
  });
  const draw = () => {
    const texts = modelOf(models, state.asked.request).examples;
    const options = texts.map(({ text }) => element("option", { value: text }, text));
    examples.replaceChildren(element("option", { value: "" }, say("examples")), ...options);
    examples.disabled = !texts.length;
  };
  return { element: examples, views: [draw] };
}

function createPadding(
  models: LiveModel[],
  state: Readonly<PageState>,
  say: Say,
  onChoose: (pad: number) => void,
): Part {
  const paddings = Array.from({ length: MOST_PADDING + 1 }, (_, count) => count);
  const pad = select(say("pad"), "pad", paddings, (count) => [
    String(count),
    say("pad_choice", { count }),
  ]);
  pad.addEventListener("change", () => onChoose(Number(pad.value)));
  const draw = () => {
    const { request } = state.asked;
    pad.value = String(request.pad);
    const { alone, library, words } = modelOf(models, request);
    pad.disabled = words !== null || (alone && !library); // our own models pad no prompt
    pad.classList.toggle("chosen", request.pad > 0);
  };
  return { element: pad, views: [draw] };
}
