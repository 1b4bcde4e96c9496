/** The line by which tokens are drawn at random, as `explorer/core/interventions.py` reads it. */

import { LARGEST_SEED, TEMPERATURES } from "./look.ts";
import type { Facts } from "./trace.ts";

/** How tokens are drawn at random. */
export interface Drawing {
  verb: "draw";
  temperature: number;
  seed: number;
  k?: number; // top-k,
  p?: number; // and top-p; without one, no restriction
}

const LINE = /^draw\s+(\S+)\s+(\d{1,4})(?:\s+k=(\d{1,4}))?(?:\s+p=(\S+))?$/;
const LONGEST_SHOWN = 85; // characters of a line that is refused

/** A drawing from its line; null where it is none, or beyond its ranges. */
export function readDrawing(line: string): Drawing | null {
  const found = LINE.exec(line.trim());
  if (!found) return null;
  const [temperature, seed] = found.slice(1).map(Number);
  const [k, p] = found.slice(3).map((word) => Number(word ?? 1));
  const [lowest, highest] = TEMPERATURES;
  const within = temperature >= lowest && temperature <= highest && seed <= LARGEST_SEED;
  if (!within || !(k > 0 && p > 0 && p <= 1)) return null;
  const drawing: Drawing = { verb: "draw", temperature, seed };
  if (found[3]) drawing.k = k;
  if (found[4]) drawing.p = p;
  return drawing;
}

/** The line that `readDrawing` reads. */
export function drawingLine({ temperature, seed, k, p }: Drawing) {
  const restrictions = [k && `k=${k}`, p && `p=${p}`].filter(Boolean);
  return ["draw", temperature, seed, ...restrictions].join(" ");
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
