/** The line by which tokens are drawn at random, as `explorer/core/interventions.py` reads it. */

import { LARGEST_SEED, TEMPERATURES } from "./look.ts";
import type { Facts } from "./trace.ts";

/** How tokens are drawn at random. */
export interface Drawing {
  verb: "draw";
  temperature: number;
  seed: number;
}

const LINE = /^draw\s+(\S+)\s+(\d{1,4})$/;
const LONGEST_SHOWN = 85; // characters of a line that is refused

/** A drawing from its line; null where it is none, or beyond its ranges. */
export function readDrawing(line: string): Drawing | null {
  const found = LINE.exec(line.trim());
  if (!found) return null;
  const [temperature, seed] = found.slice(1).map(Number);
  const [lowest, highest] = TEMPERATURES;
  const within = temperature >= lowest && temperature <= highest && seed <= LARGEST_SEED;
  return within ? { verb: "draw", temperature, seed } : null;
}

/** The first of the lines that is a drawing beyond its ranges; "" without one. */
export function wrongDrawing(lines: readonly string[]) {
  const found = lines.map((line) => line.trim().split(/\s+/).join(" "));
  const wrong = found.find((line) => line.startsWith("draw ") && !readDrawing(line));
  return wrong?.slice(0, LONGEST_SHOWN) ?? "";
}

/** How the tokens of a trace were drawn; null where they were not, or were all given. */
export function drawingIn({ interventions, given }: Pick<Facts, "interventions" | "given">) {
  const lines = Array.isArray(interventions) && !given ? interventions : [];
  const read = (line: unknown) => (typeof line === "string" ? readDrawing(line) : null);
  return lines.map(read).find(Boolean) ?? null;
}
