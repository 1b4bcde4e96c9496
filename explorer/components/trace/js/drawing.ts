/** How tokens are drawn at random. */

import type { Facts } from "./trace.ts";
import { type Of, readIntervention } from "./verbs.ts";

export type Drawing = Of<"draw">; // without k or p, no restriction

const LONGEST_SHOWN = 85; // characters of a line that is refused

/** The first of the lines that is a drawing beyond its ranges; "" without one. */
export function wrongDrawing(lines: readonly string[]) {
  const found = lines.map((line) => line.trim().split(/\s+/).join(" "));
  const wrong = found.find((line) => line.startsWith("draw ") && !readIntervention(line));
  return wrong?.slice(0, LONGEST_SHOWN) ?? "";
}

/** How the tokens of a trace were drawn; null where they were not, or were all given. */
export function drawingIn({ interventions, given }: Pick<Facts, "interventions" | "given">) {
  const lines = Array.isArray(interventions) && !given ? interventions : [];
  const read = (line: unknown) => (typeof line === "string" ? readIntervention(line) : null);
  return lines.map(read).find((one): one is Drawing => one?.verb === "draw") ?? null;
}
