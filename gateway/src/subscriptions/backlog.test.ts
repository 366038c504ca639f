import { describe, expect, it } from '@jest/globals';
import { Backlog } from './backlog.ts';

const fill = (backlog: Backlog, count: number) => {
  for (let i = 0; i < count; i++) backlog.add();
};

function createAsking(backlog: Backlog) {
  const called: string[] = [];
  return {
    called,
    ask: (name: string) => {
      backlog.ask(() => called.push(name));
    },
  };
}

describe('a backlog', () => {
  it('lets in at once as many as there is room for, and the next when one of them is answered', () => {
    const backlog = new Backlog(1000);
    const { called, ask } = createAsking(backlog);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) ask(name);
    expect(called).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (let i = 0; i < 3; i++) backlog.answered();
    expect(called).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    backlog.answered();
    expect(called).toHaveLength(7);
  });

  it('is full at its limit, and lets in once half of it is free, nobody before those who ask already', () => {
    const backlog = new Backlog(1000);
    const { called, ask } = createAsking(backlog);
    fill(backlog, 1000);
    expect(backlog.isFull).toBe(true);
    ask('a');
    ask('b');
    backlog.remove(400);
    ask('c');
    expect([backlog.isFull, called]).toEqual([false, []]);
    backlog.remove(101);
    expect(called).toEqual(['a']);
    // It has begun to come: the room is that of its events from now on.
    fill(backlog, 200);
    backlog.answered();
    expect(called).toEqual(['a']);
    backlog.remove(699);
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('never forgets who asks: when nothing waits and nobody is about to be answered, the next one is let in', () => {
    const backlog = new Backlog(10);
    const { called, ask } = createAsking(backlog);
    for (const name of ['a', 'b', 'c']) ask(name);
    expect(called).toEqual(['a']);
    backlog.answered();
    backlog.answered();
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('does not call who has gone, and lets somebody ask again while he is called', () => {
    const backlog = new Backlog(1000);
    const { called, ask } = createAsking(backlog);
    fill(backlog, 1000);
    const gone = () => called.push('gone');
    backlog.ask(gone);
    backlog.ask(() => {
      called.push('a');
      ask('b');
    });
    backlog.forget(gone);
    backlog.remove(900);
    expect(called).toEqual(['a', 'b']);
  });
});
