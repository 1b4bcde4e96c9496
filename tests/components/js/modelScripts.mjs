/** A model's file as its script, with whole numbers of any size. */

// The control characters but NUL, LF, CR, SO, SI, SUB, ESC; then all others but " & < \ and DEL.
const CONTROL =
  "\x01\x02\x03\x04\x05\x06\x07\b\t\v\f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1c\x1d\x1e\x1f";
const PRINTED =
  " !#$%'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
const ALPHABET = CONTROL + PRINTED;

/** @param {Uint8Array} bytes */
export function textOf(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 6) {
    const hex = Buffer.from(bytes.subarray(at, at + 6)).toString("hex");
    let number = BigInt(`0x${hex.padEnd(12, "0")}`);
    let group = "";
    for (let place = 0; place < 7; place++, number /= 116n)
      group = ALPHABET[Number(number % 116n)] + group;
    text += group;
  }
  return text;
}

/** @param {Uint8Array} bytes */
export function scriptOf(bytes) {
  return `receiveModel("${textOf(bytes)}");\n`;
}
