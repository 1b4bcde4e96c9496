/**
 * A number in as few digits as are informative.
 * @param {number | null | undefined} value
 */
export function shortNumber(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.01) return value.toFixed(2);
  return value.toPrecision(1).replace("e-", "e−");
}

/**
 * The same with its sign, for a difference.
 * @param {number | null | undefined} value
 */
export function signedNumber(value) {
  const text = shortNumber(value);
  if (value === null || value === undefined) return text;
  return value > 0 ? `+${text}` : text.replace("-", "−");
}
