/** Labels of progressive `@override`. No I/O. */

const NO_LABELS: readonly string[] = [];

/** Returns a function that chooses the labels of one request: those that are active, and `percent(n)` for n of a hundred requests. */
export function createLabelChoice(known: readonly string[], active: readonly string[], random: () => number): () => readonly string[] {
  const fixed = known.filter((label) => active.includes(label));
  const shares = known.flatMap((label) => {
    const percent = /^percent\((\d+(?:\.\d+)?)\)$/.exec(label)?.[1];
    return percent === undefined ? [] : [{ label, percent: Number(percent) }];
  });
  if (shares.length === 0) return () => (fixed.length === 0 ? NO_LABELS : fixed);
  return () => {
    const drawn = random() * 100;
    return [...fixed, ...shares.filter(({ percent }) => drawn < percent).map(({ label }) => label)];
  };
}
