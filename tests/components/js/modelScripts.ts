/** A model's file as its script, with whole numbers of any size. */

// The control characters but NUL, LF, CR, SO, SI, SUB, ESC; then all others but " & < \ and DEL.
const CONTROL =
  "\x01\x02\x03\x04\x05\x06\x07\b\t\v\f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1c\x1d\x1e\x1f";
const PRINTED =
  " !#$%'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
const ALPHABET = CONTROL + PRINTED;

export function textOf(bytes: Uint8Array) {
  const first = bytes.filter((_, at) => at % 2 === 0);
  let text = "";
  for (let at = 0; at < first.length; at += 6) {
    const hex = Buffer.from(first.subarray(at, at + 6)).toString("hex");
    let number = BigInt(`0x${hex.padEnd(12, "0")}`);
    let group = "";
    for (let place = 0; place < 7; place++, number /= 116n)
      group = ALPHABET[Number(number % 116n)] + group;
    text += group;
  }
  for (const byte of bytes.filter((_, at) => at % 2 === 1)) {
    const bits = byte.toString(2).padStart(8, "0");
    const turned = Number.parseInt(bits.slice(1) + bits[0], 2);
    if (turned < 114) text += ALPHABET[turned];
    else if (turned < 230) text += ALPHABET[114] + ALPHABET[turned - 114];
    else text += ALPHABET[115] + ALPHABET[turned - 230];
  }
  return text;
}

export function scriptOf(bytes: Uint8Array) {
  return `receiveModel("${textOf(bytes)}");\n`;
}
