/** The vocabularies' own marks, as `explorer.grouping` has them. */
const SPECIALS = new Set(
  "<pad> <bos> <eos> <s> </s> <mask> <|endoftext|> [PAD] [CLS] [SEP] [MASK]".split(" "),
);
const UNKNOWN = "<unk>"; // stands for letters of the text
const BRACKETED = /^<(bos|eos|pad|unk)>$/;
const BYTE = /^<0x([0-9A-F]{2})>$/;
const WORD_START = "▁";
const LONGEST_LABEL = 40;
const EMOJI = /^\p{Extended_Pictographic}/u;
/** What leaves no mark on the screen, or an emoji with the unseen that joins or colours it. */
const UNSEEN =
  /\p{Extended_Pictographic}(?:\ufe0f|\p{EMod}|\u200d(?=\p{Extended_Pictographic}))+|(?! )[\p{Cc}\p{Cf}\p{Z}\p{DI}]/gu;

/** What a token is called: specials without brackets, bytes as such, the unseen as codes. */
function labelOf(token) {
  const special = BRACKETED.exec(token);
  if (special) return special[1];
  const byte = BYTE.exec(token);
  if (byte) return `‹${byte[1]}›`;
  const text = markOf(token) ? token.slice(1) : token === WORD_START ? "" : token;
  const letters = Array.from(text.slice(0, 4 * LONGEST_LABEL));
  const short = letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL).join("")}…` : text;
  return /^ *$/.test(short) ? "␣" : short.replace(UNSEEN, codePoint);
}

/** The mark of a piece that begins a word, which is shown but never said; else nothing. */
function markOf(token) {
  return token.length > 1 && token.startsWith(WORD_START) ? WORD_START : "";
}

/** A letter nobody could see, as an escape; an emoji as it is. */
function codePoint(letter) {
  return EMOJI.test(letter) ? letter : `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`;
}

/** Whether a token is one of the vocabulary's own marks rather than text. */
function isSpecial(token) {
  return SPECIALS.has(token);
}

const written = new WeakMap(); // what each node says: a step looks at many and changes few

/** Write a token, after `before`, into a node; the full text of a shortened one is its title. */
function writeToken(node, token, before = "") {
  if (written.get(node) === token) return;
  written.set(node, token);
  const mark = markOf(token);
  const start = mark ? [element("span", { class: "word-start", "aria-hidden": "true" }, mark)] : [];
  node.replaceChildren(before, ...start, labelOf(token));
  node.classList.toggle("special", isSpecial(token) || token === UNKNOWN);
  node.classList.toggle("byte", BYTE.test(token));
  assign(node, "title", token === labelOf(token) ? null : token.slice(0, 1000));
}

/** An isolated token element. */
function tokenElement(token, attributes = {}) {
  const node = element("bdi", attributes);
  node.classList.add("token");
  writeToken(node, token);
  return node;
}

/** A label for Plotly, which reads its own small HTML in every text. */
function plotlyLabel(token, longest = Infinity) {
  const letters = Array.from(markOf(token) + labelOf(token));
  const text = letters.length > longest ? `${letters.slice(0, longest).join("")}…` : letters.join("");
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("$", "＄"); // two dollar signs would ask for MathJax
}

/** A probability as a percentage with as many digits as tell something, never broken over two lines. */
function percent(probability) {
  const value = probability * 100;
  if (value >= 99.995 && value < 100) return ">\u00a099.99\u00a0%";
  if (value >= 99.95 && value < 100) return `${value.toFixed(2)}\u00a0%`;
  if (value >= 0.1 || value === 0) return `${value.toFixed(1)}\u00a0%`;
  if (value < 0.00005) return "<\u00a00.0001\u00a0%";
  return `${value.toFixed(value >= 0.01 ? 2 : 4)}\u00a0%`;
}

/** A weight in a cell: `digits` digits, no leading zero; 1 alone in the width of the others. */
function shortWeight(weight, digits = 2) {
  const text = weight.toFixed(digits);
  if (text.startsWith("0.")) return text.slice(1);
  return Number(text) === 1 ? "1.0".slice(0, 2 * digits - 1) : text;
}

/** A measured error: 0, or one digit and a power of ten. */
function shortError(error) {
  if (error === null) return "?";
  return error === 0 ? "0" : error.toExponential(0);
}

/** A token in a CSV file, disarmed by ' where a spreadsheet would take it for a formula. */
function csvToken(token) {
  const text = /^[=+\-@\t\r]/.test(token) ? `'${token}` : token;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
