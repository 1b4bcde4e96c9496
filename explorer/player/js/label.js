const SPECIAL = /^<(bos|eos|pad|unk)>$/;
const LONGEST_LABEL = 40;
const INVISIBLE = /^[\s\p{Cf}\p{Cc}\p{Z}]*$/u;

/** What a token is called on screen: specials without brackets, spaces made visible. */
function labelOf(token) {
  const special = SPECIAL.exec(token);
  if (special) return special[1];
  if (INVISIBLE.test(token)) return `␣${codePoints(token)}`;
  const letters = Array.from(token.slice(0, 4 * LONGEST_LABEL));
  return letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL).join("")}…` : token;
}

/** The first letters of a token nobody could see, as U+ numbers. */
function codePoints(token) {
  const letters = Array.from(token.slice(0, 4)).filter((letter) => letter !== " ");
  return letters.map((letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase()}`).join(" ");
}

/** Whether a token is one of the vocabulary's own marks rather than text. */
function isSpecial(token) {
  return SPECIAL.test(token);
}

const written = new WeakMap(); // what each node says: a step looks at many and changes few

/** Write a token, after `before`, into a node; the full text of a shortened one is its title. */
function writeToken(node, token, before = "") {
  if (written.get(node) === token) return;
  written.set(node, token);
  write(node, before + labelOf(token));
  node.classList.toggle("special", isSpecial(token));
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
  const letters = Array.from(labelOf(token));
  const text = letters.length > longest ? `${letters.slice(0, longest).join("")}…` : letters.join("");
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("$", "＄"); // two dollar signs would ask for MathJax
}

/** A probability as a percentage with as many digits as tell something. */
function percent(probability) {
  const value = probability * 100;
  if (value >= 99.995 && value < 100) return "> 99.99 %";
  if (value >= 99.95 && value < 100) return `${value.toFixed(2)} %`;
  if (value >= 0.1 || value === 0) return `${value.toFixed(1)} %`;
  if (value < 0.00005) return "< 0.0001 %";
  return `${value.toFixed(value >= 0.01 ? 2 : 4)} %`;
}

/** A weight in a cell: two digits, no leading zero. */
function shortWeight(weight) {
  const text = weight.toFixed(2);
  return text.startsWith("0.") ? text.slice(1) : weight >= 0.995 && weight < 1.005 ? "1.0" : text;
}

/** A measured error: 0, or one digit and a power of ten. */
function shortError(error) {
  if (error === null) return "?";
  return error === 0 ? "0" : error.toExponential(0);
}

/** A field of a CSV file; a leading sign is disarmed so that no spreadsheet runs it. */
function csvField(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
