import type { LiveModel } from "../../../explorer/components/live/js/liveModel.ts";

/** A model of symbols, of our own, that reads no second text. */
export function modelWith(fields: Partial<LiveModel>): LiveModel {
  const name = fields.name ?? "reverse";
  return {
    name,
    bytes: 0,
    scriptBytes: 0,
    sha256: "",
    words: null,
    label: { en: name },
    intro: { en: "" },
    placeholder: { en: "" },
    examples: [{ text: "7 3 9", hint: { en: "" } }],
    library: false,
    kind: "symbols",
    mask: "",
    pairs: false,
    draws: true,
    symbols: [],
    alone: false,
    longest: 9,
    usual: 0,
    sourceWords: [],
    targetWords: [],
    sentences: [],
    opening: null,
    ...fields,
  };
}
