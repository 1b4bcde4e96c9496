import { is, letter, over, sub, to, typeset } from "../../dom/js/mathml.ts";

const x = letter("x", "stream");
const y = letter("y", "added");
const z = letter("z", "mixed");
const h = letter("h", "hidden");
const plus = "<mo>+</mo>";
const matrix = (name: string) => sub("<mi>W</mi>", `<mi>${name}</mi>`);
const bias = (name: string) => `${plus}${sub("<mi>b</mi>", `<mi>${name}</mi>`)}`;
const norm = (inside: string) => `<mi>LayerNorm</mi><mo>(</mo>${inside}<mo>)</mo>`;
/**
 * Query, key and value of a head, computed from one vector.
 * @param suffix of the names
 */
const projections = (suffix: string, from: string) =>
  Object.fromEntries(
    [
      ["query", "Q"],
      ["key", "K"],
      ["value", "V"],
    ].map(([kind, name]) => [
      `${kind}${suffix}`,
      `${letter(kind[0], kind)}${is}${from}${matrix(name)}${bias(name)}`,
    ]),
  );
const angle = over(
  "<mi>pos</mi>",
  to("<mn>10000</mn>", "<mn>2</mn><mi>i</mi><mo>/</mo><mi>D</mi>"),
);

/** The equation of each box, as MathML. A letter has the colour of its picture by its class. */
const EQUATIONS: Record<string, string> = {
  tokens: `${letter("e", "token")}${is}<msqrt><mi>D</mi></msqrt><mo>·</mo>${sub("<mi>E</mi>", "<mi>t</mi>")}`,
  positions: `${sub(letter("p", "position"), "<mrow><mn>2</mn><mi>i</mi></mrow>")}${is}<mi>sin</mi><mo>⁡</mo>${angle}`,
  input: `${x}${is}${letter("e", "token")}${plus}${letter("p", "position")}`,
  later: `${x}`,
  normed: `<mover>${x}<mo>^</mo></mover>${is}${norm(x)}`,
  ...projections("", `<mover>${x}<mo>^</mo></mover>`),
  ...projections("_post", x),
  ...projections("_memory", letter("m", "memory")),
  heads: `${z}${is}<mo>[</mo>${sub(z, "<mn>0</mn>")}<mo>;</mo><mo>…</mo><mo>;</mo>${sub(z, "<mrow><mi>H</mi><mo>−</mo><mn>1</mn></mrow>")}<mo>]</mo>`,
  projected: `${y}${is}${z}${matrix("O")}${bias("O")}`,
  result: `${x}<mo>←</mo>${x}${plus}${y}`,
  result_post: `${x}<mo>←</mo>${norm(`${x}${plus}${y}`)}`,
  hidden: `${h}${is}<mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo><mover>${x}<mo>^</mo></mover>${matrix("1")}${bias("1")}<mo>)</mo>`,
  hidden_post: `${h}${is}<mi>max</mi><mo>(</mo><mn>0</mn><mo>,</mo>${x}${matrix("1")}${bias("1")}<mo>)</mo>`,
  forwarded: `${y}${is}${h}${matrix("2")}${bias("2")}`,
  layer: `${x}<mo>←</mo>${x}${plus}${y}`,
  layer_post: `${x}<mo>←</mo>${norm(`${x}${plus}${y}`)}`,
  stack: norm(x),
  stack_post: x,
  logits: `<mi>P</mi>${is}${over(to("<mi>e</mi>", "<mi>ℓ</mi>"), `<mo>∑</mo>${to("<mi>e</mi>", "<mi>ℓ</mi>")}`)}`,
};

/** A typeset equation. */
export function equation(name: string): Element {
  return typeset(EQUATIONS[name]);
}
