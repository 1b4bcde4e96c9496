/**
 * Explore as a page of its own, on which the browser itself decodes: its models are in a worker, its
 * address is a link to what is on screen.
 */

import { isHanded } from "../../browser_training/js/handedModel.ts";
import { beginAlone } from "../../classroom/js/guest.ts";
import { store as keep, stored } from "../../page/js/browserStorage.ts";
import { embeddedPlotly } from "../../player/js/embeddedPlotly.ts";
import { readAddress } from "./address.ts";
import { workerBackend } from "./backend.ts";
import { createClassGuest } from "./classGuest.ts";
import { createExplorePage } from "./explorePage.ts";
import { withHandedModel } from "./handedModel.ts";
import { createHeader } from "./header.ts";
import { offerInstallation } from "./installation.ts";
import { nearestLanguage } from "./languages.ts";
import { fragmentAddress, type PageAddress } from "./pageAddress.ts";
import type { PageData } from "./pageData.ts";

/** Whether the server of a class has sent this page to a guest. */
const IN_CLASS = document.documentElement.hasAttribute("data-class");

const LANGUAGE = "attention-language"; // in the browser's storage

function found(id: string) {
  return document.getElementById(id) as HTMLElement;
}

function openPage(data: PageData, workerSource: string) {
  const address = fragmentAddress();
  const speak = (language: string) => {
    keep(LANGUAGE, language);
    page.speak(language);
  };
  const page = createExplorePage(data, {
    root: found("live"),
    address,
    backend: (onProgress) => workerBackend(data.models, workerSource, onProgress),
    plotly: embeddedPlotly,
    language: chosenLanguage(data, address),
    header: (language, say, signal) => {
      const alone = data.models.length === 1 ? `${data.models[0].name} · ` : "";
      document.title = `${alone}${say("page_title")}`;
      return createHeader(data, language, say, speak, signal);
    },
    guest: IN_CLASS ? (...parts) => createClassGuest(data, ...parts) : undefined,
  });
}

/** The language of the link, of the last visit or of the browser. */
function chosenLanguage(data: PageData, address: PageAddress) {
  const languages = Object.keys(data.languages);
  const linked = readAddress(address.read(), data).language;
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
