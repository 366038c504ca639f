import { describe, expect, it } from '@jest/globals';
import { ArenaPool, OutOfMemory } from './arena.ts';

const KB = 1024;

describe('an arena', () => {
  it('keeps its contents when it grows', () => {
    const arena = new ArenaPool().take(0);
    const text = Buffer.from('a response');
    const at = arena.copyIn(text, 0, text.length);
    arena.reserve(300 * KB);
    expect(arena.bytes.length).toBe(1024 * KB);
    expect(arena.bytes.toString('utf8', at, at + text.length)).toBe('a response');
    expect(arena.bytes[at + text.length]).toBe(0);
  });

  it('is refused when it would exceed the largest size class', () => {
    const pool = new ArenaPool();
    const arena = pool.take(0);
    expect(() => {
      arena.reserve(5 * KB * KB);
    }).toThrow(OutOfMemory);
    arena.release();
    expect(pool.counts.used).toBe(0);
  });

  it('is refused when all arenas together would exceed their limit', () => {
    const pool = new ArenaPool();
    const arenas = Array.from({ length: 32 }, () => pool.take(3));
    expect(() => pool.take(3)).toThrow(OutOfMemory);
    for (const arena of arenas) arena.release();
    expect(pool.counts.used).toBe(0);
    expect(pool.counts.free).toBeLessThanOrEqual(16 * KB * KB);
    expect(pool.take(3).bytes.length).toBe(4 * KB * KB);
  });

  it('gives its memory back once', () => {
    const pool = new ArenaPool();
    const arena = pool.take(1);
    arena.release();
    arena.release();
    expect(pool.counts).toEqual({ used: 0, free: 256 * KB });
    expect(arena.bytes.length).toBe(0);
  });

  it('is overwritten when it is released to a pool with `isOverwriting`', () => {
    const arena = new ArenaPool({ isOverwriting: true }).take(0);
    const { bytes } = arena;
    arena.copyIn(Buffer.from('secret'), 0, 6);
    arena.release();
    expect(bytes.every((byte) => byte === 0xfe)).toBe(true);
  });
});
