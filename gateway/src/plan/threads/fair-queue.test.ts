import { describe, expect, it } from '@jest/globals';
import { FairQueue } from './fair-queue.ts';

const task = (client: string, n: number, bytes = 1) => ({ client, n, bytes });

describe('FairQueue', () => {
  it('takes one task of each client in turn, and the tasks of one client in order', () => {
    const queue = new FairQueue<ReturnType<typeof task>>({ maxBytes: 100, maxPerClient: 10 });
    for (const n of [1, 2, 3]) queue.push(task('a', n));
    queue.push(task('b', 1));
    queue.push(task('c', 1));
    const taken = Array.from({ length: 6 }, () => queue.shift()).map((each) => each && `${each.client}${String(each.n)}`);
    expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', undefined]);
    expect(queue.isEmpty).toBe(true);
  });

  it('leaves out clients that may not run, which keep their turns', () => {
    const queue = new FairQueue<ReturnType<typeof task>>({ maxBytes: 100, maxPerClient: 10 });
    for (const client of ['a', 'b', 'c']) queue.push(task(client, 1));
    expect(queue.shift((client) => client !== 'a')?.client).toBe('b');
    expect(queue.shift(() => false)).toBeUndefined();
    expect([...queue.clients]).toEqual(['a', 'c']);
    expect(queue.shift()?.client).toBe('a');
  });

  it('refuses a task beyond the share of its client or beyond the bytes of all, and takes tasks again when there is room', () => {
    const queue = new FairQueue<ReturnType<typeof task>>({ maxBytes: 10, maxPerClient: 2 });
    expect([1, 2, 3].map((n) => queue.push(task('a', n)))).toEqual([true, true, false]);
    expect([queue.push(task('b', 1, 9)), queue.push(task('b', 2, 8))]).toEqual([false, true]);
    queue.shift();
    expect(queue.push(task('a', 4))).toBe(true);
  });
});
