/** At most `most` of the moments, evenly spread, the first and the last among them. */
export function spread<Moment>(moments: Moment[], most: number) {
  const count = Math.min(moments.length, most);
  if (count < 2) return moments.slice(-count || moments.length);
  const last = moments.length - 1;
  return Array.from(
    { length: count },
    (_, index) => moments[Math.round((index * last) / (count - 1))],
  );
}
