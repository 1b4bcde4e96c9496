const DIFFERENCE = /^(zero|mean|only)_/; // without the head, or with it alone, minus as it is

/** Whether a metric is a difference; every other one starts at 0. */
export function isDifference(metric: string) {
  return DIFFERENCE.test(metric);
}

/** A number in as few digits as are informative. */
export function shortNumber(value: number | null | undefined) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const text = size < 0.01 ? value.toPrecision(1) : value.toFixed(decimals);
  return text.replaceAll("-", "−");
}

/** The same with its sign, for a difference. */
export function signedNumber(value: number | null | undefined) {
  const text = shortNumber(value);
  if (value === null || value === undefined) return text;
  return value > 0 ? `+${text}` : text;
}
