/** A number with about three digits; a dash where there is none. */
export function shortValue(value: number | null | undefined) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** A share as a percentage. */
export function shortShare(value: number | null | undefined) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`;
}
