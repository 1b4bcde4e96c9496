import { readFileSync } from "node:fs";

const FOLDER = new URL("../../support/", import.meta.url);

/** The examples in `NAME_examples.json`, which a test in Python reads, too. */
export function sharedExamples(name: string) {
  return JSON.parse(readFileSync(new URL(`${name}_examples.json`, FOLDER), "utf8"));
}
