import type { Strings } from "../../dom/js/sentences.ts";
import type { PageLanguage } from "./languages.ts";
import type { LiveModel } from "./liveModel.ts";
import type { FetchEntry } from "./modelFetch.ts";

/** What `explorer/components/live/page.py` writes. */
export interface PageData {
  project: string; // name and version
  languages: Record<string, PageLanguage>; // by code
  models: LiveModel[];
  strings: Record<string, PageStrings>; // by language
  opening: { text: string; pad: number } | null; // of a page with one text
  site: boolean; // whether lessons and a recorded training lie beside this page
  lessons: LinkedLesson[];
  server?: string; // address that traces; without one, the page itself computes
  fetches?: FetchEntry[]; // models that the server can fetch
  gone?: string; // name of the model of the address whose page of trainings is closed
}

/** A lesson beside the page; title and aims by language. */
export interface LinkedLesson {
  name: string;
  title: Record<string, string>;
  aims: Record<string, string>;
  minutes: number | null;
}

export type PageStrings = Record<
  | "live"
  | "explore"
  | "errors"
  | "player"
  | "training_replay"
  | "class_tools"
  | "heads"
  | "lessons",
  Strings
>;
