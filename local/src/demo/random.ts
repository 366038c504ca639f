/** A pseudorandom generator with a seed, so that the demo data is the same on every start. */
import { createHash } from 'node:crypto';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const CHANCE_CHARACTERS = 16;

/** Generates random values. */
export interface Random {
  /** Returns an integer from `min` to `max`, inclusive. */
  integer(min: number, max: number): number;
  /** Returns true with this probability, 0 to 1. */
  chance(probability: number): boolean;
  /** Returns one of the values. Throws a RangeError when there are none. */
  pick<T>(values: readonly T[]): T;
  /** Returns `count` different elements in random order, or all when there are fewer. */
  sample<T>(values: readonly T[], count: number): T[];
  /** Returns an id in the format of the subgraphs: prefix, time, random part (contract §2). */
  id(prefix: string, time: Date): string;
}

/** Creates a generator. Each part of the demo data has its own seed, so that a change to one part does not change the others. */
export function createRandom(seed: string): Random {
  const next = createGenerator(seed);
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const at = <T>(values: readonly T[], index: number): T => {
    if (index >= values.length) throw new RangeError('The list of values is empty');
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

/** Returns a generator of numbers 0 ≤ x < 1, by mulberry32. */
function createGenerator(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
