import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from './buffer-pool.ts';

describe('a pool of buffers', () => {
  it('overwrites a buffer that is given back when `isOverwriting`', () => {
    const pool = createBufferPool(1e6, { isOverwriting: true });
    const buffer = pool.take();
    buffer.write('secret');
    pool.give(buffer);
    expect(buffer.every((byte) => byte === 0xfe)).toBe(true);
    expect(pool.take()).toBe(buffer);
  });
});
