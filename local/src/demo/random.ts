/** Chance that is the same on every start: a seeded generator, and ids made from it. */
import { createHash } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const CHANCE_CHARACTERS = 16;

export interface Random {
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True this often: 0 never, 1 always. */
  chance(probability: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** This many different ones, in a random order. */
  sample<T>(values: readonly T[], count: number): T[];
  /** An id of the shape that the subgraphs give out: prefix, time, chance (contract §2). */
  id(prefix: string, time: Date): string;
}

/** Each part of the data has a seed of its own, so that a change to one leaves the others as they are. */
export function createRandom(seed: string): Random {
  const next = createGenerator(seed);
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const at = <T>(values: readonly T[], index: number): T => {
    if (index >= values.length) throw new RangeError('Nothing to choose from');
    return values[index] as T;
  };
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (values) => at(values, integer(0, values.length - 1)),
    sample(values, count) {
      const rest = [...values];
      return Array.from({ length: Math.min(count, rest.length) }, () => {
        const index = integer(0, rest.length - 1);
        const chosen = at(rest, index);
        rest.splice(index, 1);
        return chosen;
      });
    },
    id(prefix, time) {
      const chance = Array.from({ length: CHANCE_CHARACTERS }, () => ALPHABET.charAt(integer(0, 31))).join('');
      return `${prefix}_${encodeTime(time.getTime())}${chance}`;
    },
  };
}

function encodeTime(milliseconds: number): string {
  let text = '';
  for (let rest = milliseconds; text.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

/** mulberry32: small, quick, and good enough for names and prices. Gives 0 ≤ x < 1. */
function createGenerator(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
