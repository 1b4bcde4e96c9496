/** How a model of the library reads a text: its languages, and whether it is a message of a chat. */

import { element, type Part, write } from "../../dom/js/element.ts";
import type { Say } from "../../dom/js/sentences.ts";
import type { ReadingChoices, SpokenLanguage } from "../../trace/js/trace.ts";
import { menu } from "./menu.ts";
import type { Reading } from "./modelWorker.ts";
import { type PageState, shownRequest } from "./pageState.ts";

/** Of the text or of the output. */
const SIDES = ["source", "target"] as const;

/** Nothing is shown until the model that is chosen has answered, and of a model without a choice. */
export function createReadingChoice(
  state: Readonly<PageState>,
  say: Say,
  onChoose: (reading: Reading) => void,
): Part {
  const chosen = () => state.asked.request.reading as Reading;
  const boxes = SIDES.map((side) => {
    const box = element("select", { testid: `${side}-language` });
    box.addEventListener("change", () =>
      onChoose({ ...chosen(), [`${side}_language`]: box.value }),
    );
    return box;
  });
  const labels = SIDES.map((side, at) =>
    element("label", {}, say(`${side}_language`), element("br"), boxes[at]),
  );
  const languages = menu("languages", "", ...labels);
  const chat = element("input", { type: "checkbox", role: "switch", testid: "chat" });
  chat.addEventListener("change", () => onChoose({ ...chosen(), chat: chat.checked }));
  const chats = element("label", { title: say("chat_title") }, chat, ` ${say("chat")}`);
  const root = element("div", { class: "reading", testid: "reading" }, languages, chats);
  let listed: ReadingChoices | null = null; // whose languages are in the boxes

  const draw = () => {
    const { reading: choices, asked } = state;
    const { model, reading } = asked.request;
    root.hidden = !choices || !reading || shownRequest(state)?.model !== model;
    if (root.hidden || !choices || !reading) return;
    languages.hidden = !choices.languages.length;
    chats.hidden = !choices.chats;
    chat.checked = reading.chat;
    SIDES.forEach((side, at) => {
      if (choices !== listed) boxes[at].replaceChildren(...options(choices, side, say));
      boxes[at].value = codeOf(choices, reading, side);
    });
    listed = choices;
    write(languages.querySelector("summary") as Element, summaryOf(choices, reading, say));
  };
  return { element: root, views: [draw] };
}

/** The code that is asked for; "" where the model does not have it. */
function codeOf({ languages }: ReadingChoices, reading: Reading, side: "source" | "target") {
  const code = reading[`${side}_language`];
  return languages.some((one) => one.code === code) ? code : "";
}

/** "eng_Latn → fra_Latn". */
export function summaryOf(choices: ReadingChoices, reading: Reading, say: Say) {
  const [source, target] = SIDES.map(
    (side) => codeOf(choices, reading, side) || choices[side]?.code || "…",
  );
  return say("languages", { source, target });
}

/** Value and text of each entry of a list; the first one is the model's own choice. */
export function entriesOf(
  { languages, ...own }: ReadingChoices,
  side: "source" | "target",
  say: Say,
): SpokenLanguage[] {
  const { name } = own[side] ?? {};
  const first = name ? say("own_language", { name }) : say("any_language");
  return [{ code: "", name: first }, ...languages];
}

function options(choices: ReadingChoices, side: "source" | "target", say: Say) {
  return entriesOf(choices, side, say).map(({ code, name }) =>
    element("option", { value: code }, name),
  );
}
