import { describe, expect, it } from '@jest/globals';
import { Backlog } from './backlog.ts';

const fill = (backlog: Backlog, count: number) => {
  for (let i = 0; i < count; i++) backlog.add();
};

describe('a backlog', () => {
  it('calls at once while there is room, but nobody before those who ask already', () => {
    const backlog = new Backlog(10);
    const called: string[] = [];
    const ask = (name: string) => {
      backlog.ask(() => called.push(name));
    };
    ask('a');
    expect(called).toEqual(['a']);
    fill(backlog, 10);
    ask('b');
    backlog.remove(2);
    ask('c');
    expect(called).toEqual(['a']);
    backlog.remove(3);
    backlog.remove();
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('is full at its limit, and calls those who asked for room once half of it is free, one after the other', () => {
    const backlog = new Backlog(10);
    fill(backlog, 10);
    expect(backlog.isFull).toBe(true);
    const called: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) backlog.ask(() => called.push(name));
    backlog.remove(4);
    expect([backlog.isFull, called]).toEqual([false, []]);
    backlog.remove();
    expect(called).toEqual(['a']);
    backlog.remove();
    expect(called).toEqual(['a', 'b']);
    // Nothing is left that would call the others.
    backlog.remove(4);
    expect(called).toEqual(['a', 'b', 'c', 'd']);
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
    const gone = () => {
      calls += 100;
    };
    backlog.ask(gone);
    backlog.ask(again);
    backlog.forget(gone);
    backlog.remove(4);
    expect(calls).toBe(1);
    backlog.remove(4);
    expect(calls).toBe(2);
  });
});
