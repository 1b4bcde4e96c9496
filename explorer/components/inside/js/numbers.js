const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/**
 * A number of a calculation, with a real minus sign: two decimals, or more where it is near zero.
 * @param {number} value
 */
export function decimal(value) {
  const size = Math.abs(value);
  const digits = size >= 0.1 || size < 5e-6 ? 2 : size >= 0.01 ? 3 : 5;
  return value
    .toFixed(digits)
    .replace("-", "−")
    .replace(/^−(0\.0+)$/, "$1");
}

/**
 * A power of e, which may be of any size; three digits, so that two of them divided give the weight beside them.
 * @param {number} value
 */
export function power(value) {
  if (value === 0 || (value >= 0.01 && value < 10_000)) return decimal(value);
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${digits}·10${[...exponent.replace("+", "")].map(raised).join("")}`;
}

/**
 * A whole number as a subscript: "₁₂".
 * @param {number} value
 */
export function subscript(value) {
  return String(value).replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]);
}

/** @param {string} sign a digit or "-" */
function raised(sign) {
  return sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)];
}
