/**
 * At most about `most` round numbers in a range, evenly spaced: 1, 2 or 5 times a power of ten apart.
 * @param most at least 1
 */
export function niceTicks([low, high]: [number, number], most: number): number[] {
  const rough = (high - low) / most;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}
