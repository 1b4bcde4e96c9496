/** A number as it is printed; by the same rules as `printed_numbers.py`. */
export interface Printed {
  text: string;
  value: number; // what the text says
  unit: number; // of the last digit; 0 where the text is exact
}

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const DIGITS = 6; // at most, where more are asked for
const PLAIN = { from: 0.001, below: 10_000 }; // other powers are written with a power of ten

/**
 * A number of a calculation, with a real minus sign: two decimals, or more where it is near zero.
 */
export function decimal(value: number) {
  return printed(value).text;
}

/**
 * The same with its value.
 * @param more than two decimals
 */
export function printed(value: number, more = 0) {
  const size = Math.abs(value);
  const least = size >= 0.1 || size < 5e-6 ? 2 : size >= 0.01 ? 3 : 5;
  return fixed(value, Math.max(least, Math.min(2 + more, DIGITS - 1 - exponentOf(value))));
}

/**
 * A power of e, or a sum of such powers: two decimals or, where it is small, two digits.
 * @param more digits
 */
export function printedPower(value: number, more = 0): Printed {
  if (value === 0 || value === 1) return { text: String(value), value, unit: 0 };
  if (value === Number.POSITIVE_INFINITY) return { text: "∞", value, unit: 0 };
  if (value < PLAIN.from || value >= PLAIN.below) return scientific(value, 1 + more);
  const least = Math.max(2, 1 - exponentOf(value));
  return fixed(value, Math.max(least, Math.min(least + more, DIGITS - 1 - exponentOf(value))));
}

/** A weight without a leading zero, with as many decimals, up to five, as tell it from 0 and 1. */
export function printedWeight(weight: number): Printed {
  if (weight < PLAIN.from || weight === 1) return printedPower(weight);
  for (let decimals = 2; decimals < DIGITS; decimals += 1) {
    const found = fixed(weight, decimals);
    if (found.value > 0 && found.value < 1) return { ...found, text: found.text.slice(1) };
  }
  return fixed(weight, 2);
}

/** A whole number as a subscript: "₁₂". */
export function subscript(value: number) {
  return String(value).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]);
}

function fixed(value: number, decimals: number): Printed {
  const digits = value.toFixed(decimals).replace(/^-(0\.0+)$/, "$1");
  return { text: digits.replace("-", "−"), value: Number(digits), unit: 10 ** -decimals };
}

/** @param decimals of the first factor */
function scientific(value: number, decimals: number): Printed {
  const kept = Math.min(decimals, DIGITS - 1);
  const written = value.toExponential(kept);
  const [digits, exponent] = written.split("e").map((part) => part.replace("+", ""));
  const raised = exponent.replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]);
  const unit = 10 ** (Number(exponent) - kept);
  return { text: `${digits}·10${raised}`, value: Number(written), unit };
}

/** The exponent of a number written as a power of ten: 2 for 163.4. */
function exponentOf(value: number) {
  return Number(value.toExponential().split("e")[1]);
}
