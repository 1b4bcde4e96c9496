/** A letter of an equation, in the colour of its kind. */
export const letter = (name: string, kind: string) =>
  `<mi mathvariant="bold" class="${kind}">${name}</mi>`;
export const sub = (base: string, below: string) => `<msub>${base}<mrow>${below}</mrow></msub>`;
export const over = (above: string, below: string) =>
  `<mfrac><mrow>${above}</mrow><mrow>${below}</mrow></mfrac>`;
export const to = (base: string, exponent: string) =>
  `<msup>${base}<mrow>${exponent}</mrow></msup>`;
export const is = "<mo>=</mo>";

/**
 * A typeset equation.
 * @param mathml what is inside <math>, written in these sources
 */
export function typeset(mathml: string): Element {
  // The parser puts what is inside <math> into the namespace of MathML. The text is ours alone.
  const text = `<math class="equation">${mathml}</math>`;
  const { body } = new DOMParser().parseFromString(text, "text/html");
  return body.firstElementChild as Element;
}
