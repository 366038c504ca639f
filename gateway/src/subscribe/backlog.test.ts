import { describe, expect, it } from '@jest/globals';
import { Backlog } from './backlog.ts';

const fill = (backlog: Backlog, count: number) => {
  for (let i = 0; i < count; i++) backlog.add();
};

describe('a backlog', () => {
  it('is full at its limit, and calls who asked for room once half of it is free, in their order', () => {
    const backlog = new Backlog(10);
    fill(backlog, 10);
    expect(backlog.isFull).toBe(true);
    const called: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      backlog.ask(() => {
        called.push(name);
        fill(backlog, 3);
      });
    }
    backlog.remove(4);
    expect([backlog.isFull, called]).toEqual([false, []]);
    backlog.remove();
    // The second fills it again.
    expect([backlog.isFull, called]).toEqual([true, ['a', 'b']]);
    backlog.remove(8);
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('does not call who has gone, and lets somebody ask again while he is called', () => {
    const backlog = new Backlog(4);
    fill(backlog, 4);
    let calls = 0;
    const again = () => {
      calls++;
      fill(backlog, 4);
      backlog.ask(again);
    };
    const gone = () => (calls += 100);
    backlog.ask(gone);
    backlog.ask(again);
    backlog.forget(gone);
    backlog.remove(4);
    expect(calls).toBe(1);
    backlog.remove(4);
    expect(calls).toBe(2);
  });
});
