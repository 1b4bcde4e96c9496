/** Title, lessons, recorded training, what needs the program itself, and the language. */

import { buttonElement, element } from "../../dom/js/element.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { allScored, type ListedLesson, lessonItems } from "../../lesson/js/lessonItems.ts";
import { createEverythingSwitch } from "../../page/js/everything.ts";
import { menu } from "./menu.ts";
import type { PageData } from "./pageData.ts";

/** What needs the program: key of its name, command that starts it. */
const ELSEWHERE: [string, string][] = [
  ["needs_heads", "attention-explorer"],
  ["needs_training", "attention-explorer train --task reverse"],
  ["needs_huggingface", "attention-explorer trace DIRECTORY TEXT --out page.html"],
  ["needs_class", "attention-explorer class"],
];

export function createHeader(
  data: PageData,
  language: string,
  say: Say,
  onLanguage: (language: string) => void,
  signal: AbortSignal,
) {
  const languages = Object.entries(data.languages).map(([code, { name, tag }]) => {
    const pressed = String(code === language);
    const attributes = { testid: `language-${code}`, "aria-pressed": pressed, lang: tag };
    return buttonElement(() => onLanguage(code), attributes, name);
  });
  const listed = data.lessons.length ? [lessons(data, language, say)] : [];
  const pages = data.site ? [training(language, say), ...listed] : [];
  const inClass = document.documentElement.hasAttribute("data-class");
  const more = inClass ? [] : [elsewhere(say)]; // a guest has the program of the host
  return element(
    "header",
    { class: "site" },
    element("h1", {}, say("title")),
    element("nav", { "aria-label": say("pages") }, ...pages, ...more),
    element(
      "div",
      { class: "languages", role: "group", "aria-label": say("language") },
      ...languages,
    ),
    createEverythingSwitch(say, signal),
  );
}

function lessons(data: PageData, language: string, say: Say) {
  const own: Say = (key, facts) => fillIn(data.strings[language].lessons, key, facts);
  const listed = data.lessons.map((one): ListedLesson => {
    const { name, title, aims, minutes } = one;
    return { name, title: title[language], aims: aims[language], minutes };
  });
  const opener = ({ name, title }: ListedLesson) =>
    element("a", { href: `lessons/${encodeURIComponent(name)}.${language}.html` }, title);
  const list = element("div", {});
  const draw = () =>
    list.replaceChildren(element("ol", {}, ...lessonItems(listed, own, opener)), ...allScored(own));
  draw();
  const node = menu("lessons", say("lessons"), list);
  node.addEventListener("toggle", draw); // a lesson may be finished since
  return node;
}

/** The first thing that is offered: the browser itself trains a model. */
function training(language: string, say: Say) {
  const href = `training.${language}.html`;
  const attributes = { class: "train-here", testid: "training", href };
  return element("a", attributes, say("training"));
}

function elsewhere(say: Say) {
  const items = ELSEWHERE.map(([name, command]) =>
    element("li", {}, `${say(name)} `, element("code", {}, command)),
  );
  const about = element("p", {}, say("needs_program"));
  return menu("elsewhere", say("elsewhere"), about, element("ul", {}, ...items));
}
