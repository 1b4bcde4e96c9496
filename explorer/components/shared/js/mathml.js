/**
 * A letter of an equation, in the colour of its kind.
 * @param {string} name
 * @param {string} kind
 */
export const letter = (name, kind) => `<mi mathvariant="bold" class="${kind}">${name}</mi>`;
/** @param {string} base @param {string} below */
export const sub = (base, below) => `<msub>${base}<mrow>${below}</mrow></msub>`;
/** @param {string} above @param {string} below */
export const over = (above, below) => `<mfrac><mrow>${above}</mrow><mrow>${below}</mrow></mfrac>`;
/** @param {string} base @param {string} exponent */
export const to = (base, exponent) => `<msup>${base}<mrow>${exponent}</mrow></msup>`;
export const is = "<mo>=</mo>";

/**
 * A typeset equation.
 * @param {string} mathml what is inside <math>, written in these sources
 * @returns {Element}
 */
export function typeset(mathml) {
  // The parser puts what is inside <math> into the namespace of MathML. The text is ours alone.
  const text = `<math class="equation">${mathml}</math>`;
  const { body } = new DOMParser().parseFromString(text, "text/html");
  return /** @type {Element} */ (body.firstElementChild);
}
