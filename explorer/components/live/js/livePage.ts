/**
 * A page on which the browser itself decodes: input, messages and the player. Its models are in a
 * worker, its address is a link to what is on screen.
 */

import { isHanded } from "../../browser_training/js/handedModel.ts";
import { beginAlone, createGuest } from "../../classroom/js/guest.ts";
import { element, phasesOf } from "../../dom/js/element.ts";
import { onResize } from "../../dom/js/onResize.ts";
import { fillIn, type Say } from "../../dom/js/sentences.ts";
import { createScreen } from "../../dom/js/store.ts";
import { store as keep, stored } from "../../page/js/browserStorage.ts";
import { watchTheme } from "../../page/js/watchers.ts";
import { readAddress } from "./address.ts";
import { createAsking } from "./asking.ts";
import { withHandedModel } from "./handedModel.ts";
import { createHeader } from "./header.ts";
import { createHostFollower } from "./hostFollower.ts";
import { createHostTraining } from "./hostTraining.ts";
import { createInputBar } from "./inputBar.ts";
import { offerInstallation } from "./installation.ts";
import { nearestLanguage } from "./languages.ts";
import { createMessages } from "./messages.ts";
import type { PageData } from "./pageData.ts";
import { followLast } from "./pageHistory.ts";
import { createPageState } from "./pageState.ts";
import { createTracePicture } from "./tracePicture.ts";

/** Whether the server of a class has sent this page to a guest. */
const IN_CLASS = document.documentElement.hasAttribute("data-class");

const LANGUAGE = "attention-language"; // in the browser's storage

function found(id: string) {
  return document.getElementById(id) as HTMLElement;
}

/** The page, drawn anew in another language; the picture is kept. */
function openPage(data: PageData, workerSource: string) {
  followLast();
  const store = createPageState(data, chosenLanguage(data));
  const { values: state, set } = store;
  const place = element("main", { id: "player" });
  let typeOn = () => {};
  const picture = createTracePicture(place, data.strings, () => typeOn());
  const asking = createAsking(data, store, picture, workerSource);
  for (const touched of ["pointerdown", "keydown"]) place.addEventListener(touched, asking.use);
  const messages = createMessages(state, data, place);
  const training = IN_CLASS ? createHostTraining(store, data.strings) : null;
  const followHost = training && createHostFollower(data, store, { asking, picture, training });
  const guest =
    followHost &&
    createGuest({
      follow: followHost,
      open: asking.followAddress,
      leave: () => picture.turnTo("player"),
    });
  const screen = createScreen();
  let built = new AbortController();

  const build = () => {
    built.abort();
    built = new AbortController();
    const { language } = state;
    document.documentElement.lang = data.languages[language].tag;
    const { live, explore, player, class_tools } = data.strings[language];
    const say: Say = (key, facts) => fillIn({ ...player, ...live, ...explore }, key, facts);
    const alone = data.models.length === 1 ? `${data.models[0].name} · ` : "";
    document.title = `${alone}${say("page_title")}`;
    const bar = createInputBar(data.models, store, say, {
      onRequest: (request, typed) => asking.ask({ request, view: asking.keptView(), typed }),
      onEdit: asking.edited,
    });
    typeOn = bar.focus;
    const header = createHeader(data, language, say, speak, built.signal);
    const top = element("div", { class: "top" }, header, ...messages.around(bar.element));
    const line = guest?.build((key, facts) => fillIn(class_tools, key, facts));
    const above = line ? [line, top] : [top];
    found("live").replaceChildren(...above, place, ...(training ? [training.element] : []));
    if (line) watchTheme(line, () => {});
    onResize(above, built.signal, () => {
      const height = above.reduce((sum, part) => sum + part.offsetHeight, 0);
      document.documentElement.style.setProperty("--top-height", `${height}px`);
    });
    screen.show(phasesOf([bar, messages, ...(training ? [training] : [])]));
    screen.flush();
  };
  const speak = (language: string) => {
    keep(LANGUAGE, language);
    set({ language });
    build();
    if (state.host && followHost) followHost(state.host);
    else asking.askAgain();
  };
  build();
  window.addEventListener("hashchange", () => {
    guest?.touch();
    if (guest?.following() !== "following") asking.followAddress(); // else an open vote covers it
  });
  if (!guest) asking.followAddress(); // else the class says when
}

/** The language of the link, of the last visit or of the browser. */
function chosenLanguage(data: PageData) {
  const languages = Object.keys(data.languages);
  const linked = readAddress(location.hash, data.models, languages).language;
  const own = navigator.languages ?? [navigator.language];
  const near = own.map((tag) => nearestLanguage(tag, languages));
  const wanted = [linked, stored(LANGUAGE), ...near, "en"];
  return wanted.find((name) => name && languages.includes(name)) ?? languages[0];
}

async function start() {
  const worker = found("worker").textContent ?? "";
  if (!isHanded()) return openPage(data, worker);
  if (IN_CLASS) beginAlone();
  openPage(await withHandedModel(data), worker);
}

const data = JSON.parse(found("page-data").textContent ?? "") as PageData;
if ("ResizeObserver" in window) start();
else found("not-started").classList.add("at-once"); // an older browser draws no map

if (data.site && !IN_CLASS) offerInstallation();
