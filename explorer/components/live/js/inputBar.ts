/**
 * The row of controls: model, source, random text, examples and padding. They change the latest
 * request, whether it is on screen or its model is still on its way.
 */

import { buttonElement, element, type Part } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { MOST_PADDING } from "../../trace/js/look.ts";
import { type LiveModel, randomText, requestAfter, requestOfText } from "./liveModel.ts";
import type { LiveRequest } from "./modelWorker.ts";
import { modelOf, type PageState, type PageStore } from "./pageState.ts";

interface InputBar extends Part {
  focus: () => void; // type into the text box, after its text
}

interface InputListeners {
  onRequest: (request: LiveRequest, typed: boolean) => void; // typed: sent from the text box
  onEdit: (request: LiveRequest) => void; // of the text that is changed, not sent
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
    set({ draft: null });
    listeners.onRequest(request, typed);
  };
  const requestOf = (text: string) => requestOfText(state.asked.request, text);
  const current = () => modelOf(models, state.asked.request);

  const source = createSource(models, store, say, {
    onRequest: (text) => send(requestOf(text), true),
    onEdit: (text) => listeners.onEdit(requestOf(text)),
  });
  const model = createModelChoice(models, state, say, (chosen) => {
    const { draft, asked } = state;
    const next = requestAfter(chosen, current(), draft ?? asked.request.text);
    const typed = draft?.trim() ? draft : next.text; // which symbols refuse with a sentence
    send(chosen.symbols.length ? { ...next, text: typed } : next);
  });
  const drawText = () => send(requestOf(randomText(current(), state.asked.request.text)));
  const random = buttonElement(drawText, { testid: "random" }, say("random"));
  const examples = createExamples(models, state, say, (text) => send(requestOf(text)));
  const padding = createPadding(models, state, say, (pad) => {
    const { draft, asked } = state;
    const same = draft === null || draft === asked.request.text;
    send({ ...(same ? asked.request : requestOf(draft)), pad });
  });
  const parts = [model, source, examples, padding];
  const root = element(
    "div",
    { class: "input-row", testid: "input-row" },
    model.element,
    source.element,
    random,
    examples.element,
    padding.element,
  );
  return { element: root, views: parts.flatMap(({ views = [] }) => views), focus: source.focus };
}

/** The name of the only model, or a choice. */
function createModelChoice(
  models: LiveModel[],
  state: Readonly<PageState>,
  say: Say,
  onChoose: (model: LiveModel) => void,
): Part {
  if (models.length === 1)
    return { element: element("strong", { testid: "model-name" }, models[0].name) };
  const choice = select(say("model"), "model", models, (one) => [
    one.name,
    one.label[state.language],
  ]);
  choice.addEventListener("change", () => onChoose(modelOf(models, { model: choice.value })));
  const draw = () => {
    choice.value = state.asked.request.model;
  };
  return { element: choice, views: [draw] };
}

/** The text box and the button that sends its text. */
function createSource(
  models: LiveModel[],
  { values: state, set }: PageStore,
  say: Say,
  { onRequest, onEdit }: Record<"onRequest" | "onEdit", (text: string) => void>,
): InputBar {
  const source = element("input", {
    type: "text",
    testid: "source",
    "aria-label": say("source"),
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "go",
  });
  source.addEventListener("input", () => {
    set({ draft: source.value });
    onEdit(source.value);
  });
  const go = element("button", { type: "submit", testid: "go", title: say("go_title") }, say("go"));
  const form = element("form", { class: "source", testid: "source-form" }, source, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onRequest(source.value);
  });
  const draw = () => {
    const { draft, asked, language } = state;
    const text = draft ?? asked.request.text;
    if (source.value !== text) source.value = text;
    source.placeholder = modelOf(models, asked.request).placeholder[language];
    go.classList.toggle("primary", draft !== null && draft !== asked.request.text);
  };
  const focus = () => {
    source.focus();
    source.setSelectionRange(source.value.length, source.value.length);
  };
  return { element: form, views: [draw], focus };
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
    pad.disabled = modelOf(models, request).alone; // a prompt is not padded
    pad.classList.toggle("chosen", request.pad > 0);
  };
  return { element: pad, views: [draw] };
}

/** @param describe value and text */
function select<Choice>(
  label: string,
  testid: string,
  choices: Choice[],
  describe: (choice: Choice) => [string, string],
) {
  const options = choices.map((choice) => {
    const [value, text] = describe(choice);
    return element("option", { value }, text);
  });
  return element("select", { testid, "aria-label": label }, ...options);
}
