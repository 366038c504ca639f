/** Compares words as people mistype them: letters left out, added, replaced or swapped. No I/O. */

/** The shortest word that is corrected: too many others are close to a shorter one. */
export const MIN_CORRECTED_LENGTH = 4;
const MAX_CORRECTED_LENGTH = 30;
/** From this length on, two mistakes are corrected. */
const LONG = 8;
const MAX_CORRECTIONS = 3;

/** Returns whether a word can be corrected: it has only letters, and neither too few nor too many. */
export function isCorrectable(word: string): boolean {
  return word.length >= MIN_CORRECTED_LENGTH && word.length <= MAX_CORRECTED_LENGTH && /^\p{L}+$/u.test(word);
}

/** Returns the word with each pair of neighbouring letters swapped. Few trigrams of a word survive such a mistake. */
export function swapsOf(word: string): string[] {
  const letters = Array.from(word);
  return letters.slice(1).map((letter, i) => [...letters.slice(0, i), letter, letters[i], ...letters.slice(i + 2)].join(''));
}

/** Returns those of the candidates, at most three, that are closest to the word and close enough. Candidates that are as close keep their order. */
export function closestTo(word: string, candidates: readonly string[]): string[] {
  const allowed = word.length >= LONG ? 2 : 1;
  const measured = candidates
    .filter((candidate) => Math.abs(candidate.length - word.length) <= allowed)
    .map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }))
    .filter(({ distance }) => distance <= allowed);
  const least = Math.min(...measured.map(({ distance }) => distance));
  return measured
    .filter(({ distance }) => distance === least)
    .slice(0, MAX_CORRECTIONS)
    .map(({ candidate }) => candidate);
}

/** Returns the number of mistakes between two words (optimal string alignment distance). */
export function distanceOf(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, isSwap ? at(beforeLast, j - 2) + 1 : Infinity));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
