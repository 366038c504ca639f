/** Finds the name that a user may have meant. */

/** Names that differ in more letters than this, or than half of the shorter one has, are not suggested. */
const MAX_DISTANCE = 3;
/** Longer names are not compared. */
const MAX_LENGTH = 64;

/** Returns the known name that is most similar to `name`, as the end of a sentence; an empty string when none is similar. */
export function suggest(name: string, known: Iterable<string>): string {
  if (name.length > MAX_LENGTH) return '';
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = measureDistance(name.toLowerCase(), candidate.toLowerCase());
    const limit = Math.min(MAX_DISTANCE, Math.floor(Math.min(name.length, candidate.length) / 2));
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name: candidate, distance };
  }
  return best ? `; did you mean \`${best.name}\`?` : '';
}

/** Returns how many letters must be added, removed or replaced (Levenshtein). */
function measureDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
