/** A seeded random number generator: one seed determines a whole run. */

export interface Random {
  /** Returns a number from 0 up to, not including, 1. */
  next(): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  /** Returns an integer from 0 to `most`, both included. */
  upTo(most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns some of the items, in their order. */
  some<T>(from: readonly T[], probability: number): T[];
}

export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    upTo: (most) => Math.floor(next() * (most + 1)),
    pick: <T>(from: readonly T[]) => from[Math.floor(next() * from.length)] as T,
    some: (from, probability) => from.filter(() => next() < probability),
  };
}

/** Returns a number from 0 up to, not including, 1 that depends on the string only. */
export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h ^= h >>> 15;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  return (h >>> 0) / 2 ** 32;
}
