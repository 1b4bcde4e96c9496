/** A model that another page of the site has trained, among the models of this one. */

import { askForModel, type HandedModel } from "../../browser_training/js/handedModel.ts";
import { fillIn, type Strings } from "../../dom/js/sentences.ts";
import type { LiveModel } from "./liveModel.ts";
import type { PageData } from "./pageData.ts";

const EXAMPLE = "7 3 9 1 4"; // what was shown of its training

/** The data of the page, with the handed model first, or with its name where it is gone. */
export async function withHandedModel(data: PageData): Promise<PageData> {
  const handed = await askForModel();
  if (handed) return { ...data, models: [described(handed, data), ...data.models] };
  const wanted = new URLSearchParams(location.hash.slice(1)).get("model");
  const known = data.models.some(({ name }) => name === wanted);
  return wanted && !known ? { ...data, gone: wanted } : data;
}

function described(handed: HandedModel, data: PageData): LiveModel {
  const { name, file, sha256, symbols, longest, opening } = handed;
  const known = symbols.join(" ");
  const inEach = (say: (strings: Record<"live" | "explore", Strings>) => string) =>
    Object.fromEntries(Object.entries(data.strings).map(([code, strings]) => [code, say(strings)]));
  const label = inEach(({ live }) => fillIn(live, "trained_label", { name }));
  return {
    name,
    usual: 0,
    ...{ bytes: file.length, scriptBytes: file.length, sha256, data: file },
    ...{ label, short: label, intro: inEach(({ live }) => live.trained_intro) },
    placeholder: inEach(({ explore }) => fillIn(explore, "symbols_hint", { known })),
    examples: [{ text: EXAMPLE, hint: inEach(() => "") }],
    ...{ symbols, longest, sourceWords: [], targetWords: [], sentences: [], opening, alone: false },
    ...{ words: null, library: false, kind: "symbols", mask: "", pairs: false, draws: true },
  };
}
