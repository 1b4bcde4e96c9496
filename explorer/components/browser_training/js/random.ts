/** Random numbers that a seed determines. */

import { randomShare } from "../../browser_model/js/drawing.ts";

export interface Random {
  share: () => number; // from 0, less than 1
  below: (count: number) => number; // a whole number from 0
  normal: () => number; // of mean 0 and variance 1
}

export function createRandom(seed: number): Random {
  let drawn = 0;
  const share = () => {
    drawn += 1;
    return randomShare(seed, drawn);
  };
  return {
    share,
    below: (count) => Math.floor(share() * count),
    normal: () => Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share()),
  };
}
