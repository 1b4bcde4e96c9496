/** Numbers as text, those of tables by the same rules as `core/number_format.py`. */

const HALF_UNIT = 0.004999; // half a unit of two decimals, and no tie
const MOST_DECIMALS = 6; // or digits, of a number that others are computed from

const MISSING = "–";

/**
 * A probability as a percentage with as many digits as are informative, never broken over two
 * lines. What is rounded to 0.1 is not written as 0.10.
 */
export function percent(probability: number | null | undefined) {
  if (probability === null || probability === undefined) return MISSING;
  const value = probability * 100;
  if (value >= 99.995 && value < 100) return ">\u00a099.99\u00a0%";
  if (value >= 99.95 && value < 100) return `${value.toFixed(2)}\u00a0%`;
  if (value >= 0.095 || value === 0) return `${value.toFixed(1)}\u00a0%`;
  if (value < 0.00005) return "<\u00a00.0001\u00a0%";
  return `${value.toFixed(value >= 0.00995 ? 2 : 4)}\u00a0%`;
}

/** A number in as few digits as are informative. */
export function shortNumber(value: number | null | undefined) {
  if (value === null || value === undefined) return MISSING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const text = size < 0.01 ? oneDigit(value) : value.toFixed(decimals);
  return text.replaceAll("-", "−");
}

/** One digit; below a ten-thousandth with a power of ten. */
function oneDigit(value: number) {
  const text = value.toExponential(0);
  return Number(text.split("e")[1]) < -4 ? text : value.toPrecision(1);
}

/** The same with its sign, for a difference. */
export function signedNumber(value: number | null | undefined) {
  return value && value > 0 ? `+${shortNumber(value)}` : shortNumber(value);
}

/** A number with about three digits, since a loss changes in its last ones. */
export function shortValue(value: number | null | undefined) {
  if (value === null || value === undefined) return MISSING;
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/**
 * A weight in a cell, without a leading zero; 1 in the width of the others. With one digit, less
 * than 1 is never "1": a sentence beside it says .97.
 * @param digits after the point
 */
export function shortWeight(weight: number, digits = 2) {
  const most = Number(weight.toFixed(2)) < 1 ? 1 - 10 ** -digits : weight;
  const text = Math.min(weight, most).toFixed(digits);
  if (text.startsWith("0.")) return text.slice(1);
  return Number(text) === 1 ? "1.0".slice(0, 2 * digits - 1) : text;
}

/**
 * A number with its sign, a real minus; 0 without one.
 * @param digits after the point
 */
export function signed(value: number, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

/**
 * Numbers with their signs, in the fewest decimals from two on with which they add up, as they are
 * printed, to their sum, which has two decimals, within half a unit of its last digit.
 */
export function summands(numbers: number[], sum: number) {
  for (let digits = 2; digits <= MOST_DECIMALS; digits += 1) {
    const added = numbers.reduce((before, value) => before + Number(value.toFixed(digits)), 0);
    if (Math.abs(added - Number(sum.toFixed(2))) <= HALF_UNIT)
      return numbers.map((value) => signed(value, digits));
  }
  return numbers.map((value) => signed(value));
}

/**
 * A probability as a percentage with as many digits as its loss, −ln p, takes: what is computed
 * from it, as it is printed, is the loss within half a unit of its last digit.
 * @param loss with two decimals
 */
export function percentOfLoss(probability: number, loss: string) {
  const share = percent(probability);
  /** @param value in percent */
  const follows = (value: number) => Math.abs(-Math.log(value / 100) - Number(loss)) <= HALF_UNIT;
  if (!/^[\d.]+/.test(share) || follows(Number.parseFloat(share))) return share;
  for (let digits = 2; digits <= MOST_DECIMALS; digits += 1) {
    const value = Number((100 * probability).toPrecision(digits));
    if (follows(value)) return `${value}\u00a0%`;
  }
  return share;
}

/** A measured error: 0, or one digit and a power of ten. */
export function shortError(error: number | null) {
  if (error === null) return "?";
  return error === 0 ? "0" : error.toExponential(0);
}
