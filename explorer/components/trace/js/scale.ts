import type { Shows } from "./initialState.ts";
import { FULL_WEIGHT } from "./look.ts";
import type { Site } from "./trace.ts";

export type Scale = "linear" | "sqrt" | "row"; // "row": each row's largest weight has the full tone

export const SCALES: Scale[] = ["linear", "sqrt", "row"];
const LONG_ROW = 33; // keys

/**
 * The scale in use: the visitor's choice, else √ where a row has many keys to share its weight, and
 * for contributions, of which the query itself has most.
 */
export function scaleOf(
  state: { scale: Scale | null; shows?: Shows },
  site: Pick<Site, "keys" | "widest">,
): Scale {
  const small = (state.shows ?? "weight") !== "weight" || (site.widest ?? site.keys) >= LONG_ROW;
  return state.scale ?? (small ? "sqrt" : "linear");
}

let roots: Float32Array | null = null;

/** The square root of each weight by its code: a map of 2,048 tokens has four million. */
function rootsByCode() {
  roots ??= Float32Array.from({ length: FULL_WEIGHT + 1 }, (_, code) =>
    Math.sqrt(code / FULL_WEIGHT),
  );
  return roots;
}

/**
 * Position of each weight on the colour ramp, 0..1.
 * @param weights codes of whole rows
 */
export function tones(weights: Uint16Array, keys: number, scale: Scale) {
  const result = new Float32Array(weights.length);
  if (scale === "sqrt") {
    const table = rootsByCode();
    for (let cell = 0; cell < weights.length; cell += 1) result[cell] = table[weights[cell]];
    return result;
  }
  for (let start = 0; start < weights.length; start += keys) {
    let top = FULL_WEIGHT;
    if (scale === "row") {
      top = 1;
      for (let key = 0; key < keys; key += 1) top = Math.max(top, weights[start + key]);
    }
    for (let key = 0; key < keys; key += 1) result[start + key] = weights[start + key] / top;
  }
  return result;
}

/**
 * The marks of the colour bar: [tone, text].
 * @param largest weight of the largest code
 */
export function scaleMarks(scale: Scale, largest: number): [number, string][] {
  if (scale === "row") {
    return [
      [0, "0"],
      [0.5, "½"],
      [1, "max"],
    ];
  }
  const weights = scale === "sqrt" ? [0, 0.05, 0.25, 0.6, 1] : [0, 0.25, 0.5, 0.75, 1];
  return weights.map((weight) => [
    scale === "sqrt" ? Math.sqrt(weight) : weight,
    String(Number((weight * largest).toPrecision(2))),
  ]);
}
