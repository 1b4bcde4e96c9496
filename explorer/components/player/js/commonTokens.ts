/**
 * Which tokens of two outputs are common to both, in the same order: those of a longest common
 * subsequence. What comes after an inserted token is common, though every token is a step later.
 * @returns for each token of both
 */
export function commonTokens(one: string[], other: string[]): [boolean[], boolean[]] {
  const width = other.length + 1;
  const lengths = new Uint32Array((one.length + 1) * width); // of the rest from (row, column) on
  for (let row = one.length - 1; row >= 0; row--) {
    for (let column = other.length - 1; column >= 0; column--) {
      const at = row * width + column;
      const skipped = Math.max(lengths[at + width], lengths[at + 1]);
      lengths[at] = one[row] === other[column] ? 1 + lengths[at + width + 1] : skipped;
    }
  }
  const common = [one.map(() => false), other.map(() => false)];
  let [row, column] = [0, 0];
  while (row < one.length && column < other.length) {
    const at = row * width + column;
    if (one[row] === other[column]) {
      common[0][row++] = common[1][column++] = true;
    } else if (lengths[at + width] >= lengths[at + 1]) row++;
    else column++;
  }
  return common as [boolean[], boolean[]];
}
