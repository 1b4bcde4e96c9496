import { is, letter, over, sub } from "./mathml.ts";

export interface Word {
  formula?: string; // MathML
  paper?: string; // name of the sentence with the paper's name; its address is "…_link"
}

const i = (name: string) => `<mi>${name}</mi>`;
const o = (sign: string) => `<mo>${sign}</mo>`;
/** A word that a space sets apart from what it is of. */
const word = (name: string) => `<mo lspace="0" rspace="0.2em">${name}</mo>`;
const a = i("a");
const [minus, sum, open, close] = ["−", "∑", "(", ")"].map(o);
const cell = sub(a, `${i("q")}${i("k")}`);
const key = i("k");
const under = (base: string, below: string) => `<munder>${base}<mrow>${below}</mrow></munder>`;
/** The mean over all queries. */
const mean = (inside: string) => `${over("<mn>1</mn>", i("Q"))}${under(sum, i("q"))}${inside}`;
const entropy = `${minus}${under(sum, key)}${cell}${i("ln")}${o("⁡")}${cell}`;
const largest = `${under(word("arg max"), key)}${cell}`;
/** The share of queries whose largest weight is at a key. */
const shareAt = (where: string) => mean(`${o("[")}${largest}${is}${where}${o("]")}`);
/** The share of queries whose largest weight is at one of some keys. */
const shareIn = (keys: string) => mean(`${o("[")}${largest}${o("∈")}${keys}${o("]")}`);
const same = `${o("{")}${i("j")}${o("≠")}${i("q")}${o(":")}${sub(i("x"), i("j"))}${is}${sub(i("x"), i("q"))}${o("}")}`;
const source = `${i("π")}${open}${i("q")}${close}`;
const before = `${i("j")}${minus}<mn>1</mn>`;
const afterSame = `${o("{")}${i("j")}${o(":")}${sub(i("x"), before)}${is}${sub(i("x"), i("q"))}${o("}")}`;
const special = `${key}${o("∈")}${o("{")}${i("bos")}${o(",")}${i("eos")}${o(",")}${i("pad")}${o("}")}`;
const [query, vector] = [letter("q", "query"), letter("k", "key")];
const own = sub(letter("z", "mixed"), i("h"));
const others = `${sub(letter("z", "mixed"), `${i("i")}${o("≠")}${i("h")}`)}`;
const average = sub(`<mover>${letter("z", "mixed")}${o("¯")}</mover>`, i("h"));
/** The change of a number of the model by another output of a head. */
const change = (name: string, changed: string) =>
  `${o("Δ")}${i(name)}${is}${i(name)}${open}${changed}${close}${minus}${i(name)}`;
const zero = `${own}${is}<mn>0</mn>`;
const set = `${own}${is}${average}`;
const alone = `${others}${is}<mn>0</mn>`;
const gold = mean(sub(a, `${i("q")}${source}`));
const sink = mean(`${under(sum, special)}${cell}`);
const spread = mean(over(entropy, `${i("ln")}${o("⁡")}${sub(i("n"), i("q"))}`));

const [output, moved] = [
  sub(i("y"), i("i")),
  `${sub(i("T"), i("i"))}${open}${sub(i("x"), i("j"))}${close}`,
];
/** The sum of absolute values. */
const size = (inside: string) => sub(`<mrow>${o("‖")}${inside}${o("‖")}</mrow>`, "<mn>1</mn>");
const nearer = `${i("max")}${open}<mn>0</mn>${o(",")}${size(output)}${minus}${size(`${output}${minus}${moved}`)}${close}`;
const contributed = sub(i("c"), `${i("i")}${i("j")}`);
const rolled = `${sub(i("C"), `${i("t")}${i("j")}`)}`;
/** The length of a vector. */
const euclidean = (inside: string) => sub(`<mrow>${o("‖")}${inside}${o("‖")}</mrow>`, "<mn>2</mn>");
const weightOf = `<msubsup>${a}<mrow>${i("i")}${i("j")}</mrow>${i("h")}</msubsup>`;
const addedBy = `${under(sum, i("h"))}${weightOf}${sub(letter("v", "value"), i("j"))}<msubsup>${i("W")}${i("h")}${i("O")}</msubsup>`;
const joinedLayers = `<msup>${i("C")}<mrow>${open}${i("l")}${close}</mrow></msup>${is}<msup>${i("c")}<mrow>${open}${i("l")}${close}</mrow></msup>${o("·")}<msup>${i("C")}<mrow>${open}${i("l")}${minus}<mn>1</mn>${close}</mrow></msup>`;
const part = sub(i("p"), i("h"));
const towards = i("d");
const attributed = `${part}${is}${own}<msubsup>${i("W")}${i("h")}${i("O")}</msubsup>${o("·")}${towards}`;
const direction = `${towards}${is}${over(i("γ"), i("σ"))}${open}${sub(i("u"), i("y"))}${minus}${sub(i("u"), `${i("y")}${o("′")}`)}${close}`;
/** The logarithm of the probability of a token. */
const logarithm = (token: string) => `${i("ln")}${o("⁡")}${i("P")}${open}${token}${close}`;
const attributedSum = `${under(sum, i("h"))}${part}${o("+")}${i("R")}${is}${logarithm(i("y"))}${minus}${logarithm(`${i("y")}${o("′")}`)}`;
const sums = under(sum, `${i("i")}${i("j")}`);
const scoreSum = `${over(`${query}${o("·")}${vector}`, `<msqrt>${i("d")}</msqrt>`)}${is}${sums}${over(`${sub(query, i("i"))}${o("·")}${sub(vector, i("j"))}`, `<msqrt>${i("d")}</msqrt>`)}`;

/**
 * By the name of its sentence, the formula of a word and its paper. The formulas are those of
 * `heads/metrics/attention_metrics.py` and `heads/roles/roles.py`: a weight a from query q to key k,
 * Q queries.
 */
export const WORDS: Record<string, Word> = {
  weight: {
    formula: `${cell}${is}${i("softmax")}${open}${over(`${query}${o("·")}${vector}`, `<msqrt>${i("d")}</msqrt>`)}${close}`,
    paper: "paper_vaswani_2017",
  },
  scale_sqrt: { formula: `<msqrt>${cell}</msqrt>` },
  scale_row: {
    formula: over(cell, `${under(word("max"), i("j"))}${sub(a, `${i("q")}${i("j")}`)}`),
  },
  alti: {
    formula: `${contributed}${o("∝")}${nearer}${o(",")}${under(sum, i("j"))}${contributed}${is}<mn>1</mn>`,
    paper: "paper_ferrando_2022",
  },
  value_norm: {
    formula: `${contributed}${o("∝")}${euclidean(addedBy)}`,
    paper: "paper_kobayashi_2020",
  },
  value_norm_residual: {
    formula: `${contributed}${o("∝")}${euclidean(moved)}`,
    paper: "paper_kobayashi_2021",
  },
  alti_plus: { formula: joinedLayers, paper: "paper_ferrando_plus_2022" },
  rollout: {
    formula: `${contributed}${is}${over("<mn>1</mn>", "<mn>2</mn>")}${open}${over("<mn>1</mn>", i("H"))}${under(sum, i("h"))}${weightOf}${o("+")}${o("[")}${i("i")}${is}${i("j")}${o("]")}${close}`,
    paper: "paper_abnar_2020",
  },
  leave_one_out: {
    formula: `${logarithm(i("y"))}${minus}${logarithm(`${i("y")}${o("∣")}${sub(i("x"), i("j"))}${o("∅")}`)}`,
  },
  source_share: {
    formula: `${under(sum, `${i("j")}${o("∈")}${i("S")}`)}${rolled}`,
    paper: "paper_ferrando_plus_2022",
  },
  head_parts: { formula: `${attributed}${o(",")}${direction}`, paper: "paper_elhage_2021" },
  head_parts_rest: { formula: attributedSum },
  term_score_parts: { formula: scoreSum, paper: "paper_elhage_2021" },
  gold_weight: { formula: gold, paper: "paper_ghader_2017" },
  alignment_prediction: {
    formula: `${under(word("arg max"), key)}${sub(a, `${i("t")}${minus}<mn>1</mn><mo>,</mo>${key}`)}`,
    paper: "paper_ghader_2017",
  },
  alignment_input: {
    formula: `${under(word("arg max"), key)}${sub(a, `${i("t")}<mo>,</mo>${key}`)}`,
    paper: "paper_chen_2020",
  },
  metric_confidence: {
    formula: mean(`${under(word("max"), `${key}${o("≠")}${i("eos")}`)}${cell}`),
    paper: "paper_voita_2019",
  },
  metric_entropy: { formula: mean(`${open}${entropy}${close}`), paper: "paper_vig_2019" },
  metric_normalised_entropy: { formula: spread, paper: "paper_vig_2019" },
  metric_distance: {
    formula: over(
      `${under(sum, `${i("q")}${key}`)}${cell}${o("|")}${i("q")}${minus}${key}${o("|")}`,
      `${under(sum, `${i("q")}${key}`)}${cell}`,
    ),
    paper: "paper_vig_2019",
  },
  metric_positional: {
    formula: `${under(word("max"), i("δ"))}${shareAt(`${i("q")}${o("+")}${i("δ")}`)}`,
    paper: "paper_voita_2019",
  },
  metric_gold_weight: { formula: gold, paper: "paper_ghader_2017" },
  metric_gold_accuracy: { formula: shareAt(source), paper: "paper_chen_2020" },
  metric_sink: { formula: sink, paper: "paper_ferrando_2021" },
  metric_importance: {
    formula: `${sub(i("E"), i("x"))}${o("|")}${over(`${o("∂")}${i("L")}${open}${i("x")}${close}`, `${o("∂")}${sub(i("ξ"), i("h"))}`)}${o("|")}`,
    paper: "paper_michel_2019",
  },
  metric_zero_loss: { formula: change("L", zero), paper: "paper_michel_2019" },
  metric_zero_exact: { formula: change("E", zero), paper: "paper_michel_2019" },
  metric_mean_loss: { formula: change("L", set), paper: "paper_michel_2019" },
  metric_mean_exact: { formula: change("E", set), paper: "paper_michel_2019" },
  metric_only_loss: { formula: change("L", alone), paper: "paper_michel_2019" },
  metric_only_exact: { formula: change("E", alone), paper: "paper_michel_2019" },
  previous: {
    formula: shareAt(`${i("q")}${minus}<mn>1</mn>`),
    paper: "paper_voita_2019",
  },
  self: { formula: shareAt(i("q")), paper: "paper_clark_2019" },
  next: { formula: shareAt(`${i("q")}${o("+")}<mn>1</mn>`), paper: "paper_voita_2019" },
  copy: { formula: shareAt(i("q")) },
  same_place: { formula: shareAt(i("q")) },
  reverse: { formula: shareAt(`${i("n")}${minus}<mn>1</mn>${minus}${i("q")}`) },
  alignment: { formula: shareAt(source), paper: "paper_chen_2020" },
  same_token: { formula: shareIn(same), paper: "paper_wang_2022" },
  induction: { formula: shareIn(afterSame), paper: "paper_olsson_2022" },
  punctuation: { formula: shareIn(i("P")), paper: "paper_clark_2019" },
  sink: { formula: sink, paper: "paper_ferrando_2021" },
  end: { formula: shareAt(i("eos")), paper: "paper_clark_2019" },
  diffuse: { formula: spread, paper: "paper_clark_2019" },
};
