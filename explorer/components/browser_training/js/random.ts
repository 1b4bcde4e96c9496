/** Random numbers that a seed determines. */

export interface Random {
  share: () => number; // from 0, less than 1
  below: (count: number) => number; // a whole number from 0
  normal: () => number; // of mean 0 and variance 1
}

const INCREMENT = 0x6d2b79f5; // the generator is mulberry32

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const share = () => {
    state = (state + INCREMENT) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    share,
    below: (count) => Math.floor(share() * count),
    normal: () => Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share()),
  };
}
