/**
 * SHA-256 (FIPS 180-4) of bytes. Browsers offer their own only to pages from https and from disk,
 * not to those of a host in a school's network.
 */

const BLOCK = 64; // bytes

/** The first 32 bits of the fractions of the square and cube roots of the first primes. */
const [START, ROUNDS] = constants(); // as signed words, which are added without a conversion

/** The digest of `bytes`, 64 hexadecimal digits. */
export function sha256(bytes: Uint8Array) {
  const state = START.slice();
  const schedule = new Int32Array(64);
  const whole = bytes.length - (bytes.length % BLOCK);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < whole; start += BLOCK) addBlock(state, schedule, view, start);
  const end = lastBlocks(bytes.subarray(whole), bytes.length);
  for (let start = 0; start < end.byteLength; start += BLOCK) addBlock(state, schedule, end, start);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/**
 * What is left of a message, a bit 1, zeros and the length of the message in bits.
 * @param length of the message in bytes
 */
function lastBlocks(rest: Uint8Array, length: number) {
  const bytes = new Uint8Array(BLOCK * (rest.length + 9 > BLOCK ? 2 : 1));
  bytes.set(rest);
  bytes[rest.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - 8, BigInt(length) * 8n);
  return view;
}

/**
 * @param state eight words
 * @param schedule room for 64 words
 * @param start of the block
 */
function addBlock(state: Int32Array, schedule: Int32Array, view: DataView, start: number) {
  for (let index = 0; index < 16; index++) schedule[index] = view.getInt32(start + 4 * index);
  for (let index = 16; index < 64; index++) {
    const early = schedule[index - 15];
    const late = schedule[index - 2];
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    schedule[index] = (schedule[index - 16] + first + schedule[index - 7] + second) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let index = 0; index < 64; index++) {
    const mixed = (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g));
    const one = (h + mixed + ROUNDS[index] + schedule[index]) | 0;
    const other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + other) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function turned(word: number, bits: number) {
  return (word >>> bits) | (word << (32 - bits));
}

function constants(): [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let number = 2; primes.length < 64; number++) {
    if (primes.every((prime) => number % prime)) primes.push(number);
  }
  return [Int32Array.from(primes.slice(0, 8), squareRoot), Int32Array.from(primes, cubeRoot)];
}

function squareRoot(prime: number) {
  return fraction(Math.sqrt(prime));
}

function cubeRoot(prime: number) {
  return fraction(Math.cbrt(prime));
}

function fraction(root: number) {
  return Math.floor((root % 1) * 2 ** 32);
}
