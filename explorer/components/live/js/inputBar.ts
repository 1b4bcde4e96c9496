/**
 * The row of controls: model, source, random text, examples and padding. They change the latest
 * request, whether it is on screen or its model is still on its way.
 */

import { element } from "../../dom/js/element.ts";
import { PAGE_WIDTH } from "../../dom/js/lengths.ts";
import type { Say } from "../../dom/js/sentences.ts";
import { MOST_PADDING } from "../../trace/js/look.ts";
import { initialRequest, type LiveModel, randomText, requestAfter } from "./liveModel.ts";
import type { LiveRequest } from "./modelWorker.ts";

export interface InputBar {
  element: HTMLElement;
  show: (request: LiveRequest) => void; // the latest request; a draft stays in its box
  draft: () => string | null; // what a person typed and has not sent
  setDraft: (text: string | null) => void;
  focus: () => void; // type into the text box, after its text
}

const NARROW = matchMedia(`(max-width: ${PAGE_WIDTH}px)`);

/**
 * @param listeners.onRequest typed: whether it was
 *   sent from the text box
 * @param listeners.onEdit told of the text that is changed, not sent
 */
export function createInputBar(
  models: LiveModel[],
  language: string,
  say: Say,
  {
    onRequest,
    onEdit,
  }: {
    onRequest: (request: LiveRequest, typed: boolean) => void;
    onEdit: (request: LiveRequest) => void;
  },
): InputBar {
  let shown: LiveRequest = initialRequest(models[0]);
  let draft: string | null = null;
  const current = () => models.find(({ name }) => name === shown.model) ?? models[0];
  const send: (request: LiveRequest, typed?: boolean) => void = (request, typed = false) => {
    draft = null;
    onRequest(request, typed);
  };
  const requestOf = (text: string) => ({ ...shown, text, forced: [] });
  const trace: (text: string, typed?: boolean) => void = (text, typed) =>
    send(requestOf(text), typed);

  const label = (one: LiveModel) => (NARROW.matches ? one.short : one.label)[language];
  const model = select(say("model"), "model", models, (one) => [one.name, label(one)]);
  NARROW.onchange = () => {
    for (const [index, one] of models.entries()) model.options[index].text = label(one);
  };
  model.addEventListener("change", () => {
    const chosen = models.find(({ name }) => name === model.value) ?? models[0];
    const next = requestAfter(chosen, current(), source.value);
    const typed = draft?.trim() ? draft : next.text; // which symbols refuse with a sentence
    send(chosen.symbols.length ? { ...next, text: typed } : next);
  });
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
    draft = source.value;
    markDraft();
    onEdit(requestOf(source.value));
  });
  const go = element("button", { type: "submit", testid: "go", title: say("go_title") }, say("go"));
  const markDraft = () => go.classList.toggle("primary", draft !== null && draft !== shown.text);
  const form = element("form", { class: "source", testid: "source-form" }, source, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    trace(source.value, true);
  });
  const random = element("button", { type: "button", testid: "random" }, say("random"));
  random.addEventListener("click", () => trace(randomText(current(), shown.text)));
  const examples = element("select", { testid: "examples", "aria-label": say("examples") });
  examples.addEventListener("change", () => {
    if (examples.value) trace(examples.value);
    examples.value = "";
  });
  const paddings = Array.from({ length: MOST_PADDING + 1 }, (_, count) => count);
  const pad = select(say("pad"), "pad", paddings, (count) => [
    String(count),
    say("pad_choice", { count }),
  ]);
  pad.addEventListener("change", () => {
    const forced = draft === null || draft === shown.text ? shown.forced : [];
    send({ ...shown, text: draft ?? shown.text, pad: Number(pad.value), forced });
  });
  const root = element(
    "div",
    { class: "input-row", testid: "input-row" },
    models.length > 1 ? model : element("strong", { testid: "model-name" }, models[0].name),
    form,
    random,
    examples,
    pad,
  );
  return {
    element: root,
    show: (request) => {
      shown = request;
      model.value = request.model;
      if (draft === null && source.value !== request.text) source.value = request.text;
      source.placeholder = current().placeholder[language];
      pad.value = String(request.pad);
      pad.classList.toggle("chosen", request.pad > 0);
      markDraft();
      const texts = current().examples.map(({ text }) => element("option", { value: text }, text));
      examples.replaceChildren(element("option", { value: "" }, say("examples")), ...texts);
    },
    draft: () => draft,
    setDraft: (text) => {
      draft = text;
      if (text !== null) source.value = text;
      markDraft();
    },
    focus: () => {
      source.focus();
      source.setSelectionRange(source.value.length, source.value.length);
    },
  };
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
