import assert from "node:assert/strict";
import { test } from "node:test";
import { firstUse, termUses } from "../../../explorer/components/dom/js/terms.ts";
import { firstTerm } from "../../../explorer/components/trace/js/label.ts";

test("a technical word is found at its first use, whole and outside what is quoted", () => {
  const cases: [string, string, number][] = [
    ["key: looked at →", "key", 0],
    ["Next token after “token”", "token", 5],
    ["After reading “head”, head L1 H2 looks ahead", "head", 22],
    ["looks ahead", "head", -1],
    ["all heads of L1", "head", -1],
    ["Softmax over the row", "softmax", 0],
    ["读入“头发”后，注意力头 L1 H2 查看", "头", 11],
    ["分数 q·k (1)", "q·k (1)", 3],
  ];
  for (const [text, word, place] of cases) assert.equal(firstUse(text, word), place, text);
});

test("a special token is a technical word where it comes first", () => {
  const tokens = ["<bos>", "7", "<eos>", "<pad>", "<pad>", "<unk>"];
  assert.deepEqual(
    tokens.map((_, place) => firstTerm(tokens, place)),
    ["term_bos", null, "term_eos", "term_padding", null, null],
  );
  assert.equal(firstTerm(tokens, 9), null);
  assert.equal(firstTerm(["<pad>", "le"], 0), null); // it begins the output
});

test("each of several technical words is marked once, none within another", () => {
  const words: Record<string, string> = {
    term_head: "head",
    term_score: "score q·k",
    term_token: "token",
    term_vector: "vector",
    term_mask: "mask",
  };
  const say = (key: string) => words[key];
  const text = "“head”: vectors of two heads, a vector, masked tokens and a score";
  const marked = termUses(text, Object.keys(words), say);
  assert.deepEqual(
    marked.map(({ at, end }) => text.slice(at, end)),
    ["vectors", "heads", "tokens", "score"],
  );
  const chinese: Record<string, string> = { a: "注意力", b: "注意力头", c: "头", d: "值", e: "键" };
  const sentence = "开头与均值是关键：注意力头给每个键一个值";
  assert.deepEqual(
    termUses(sentence, Object.keys(chinese), (key) => chinese[key]).map(({ term }) => term),
    ["b", "e", "d"],
  );
});
