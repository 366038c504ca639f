/** Repeatable chance: everything random in an attack comes from one seed, as a stream of AES-CTR. */
import { createCipheriv, createHash } from 'node:crypto';

export interface Random {
  bytes(length: number): Buffer;
  /** From 0 to `most`, both included; `most` is below 2^32. */
  upTo(most: number): number;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

export function createRandom(seed: string): Random {
  const digest = createHash('sha256').update(seed).digest();
  const stream = createCipheriv('aes-128-ctr', digest.subarray(0, 16), digest.subarray(16));
  const bytes = (length: number) => stream.update(Buffer.alloc(length));
  const next = () => bytes(4).readUInt32LE() / 2 ** 32;
  const upTo = (most: number) => Math.floor(next() * (most + 1));
  return { bytes, upTo, chance: (probability) => next() < probability, pick: <T>(from: readonly T[]) => from[upTo(from.length - 1)] as T };
}
