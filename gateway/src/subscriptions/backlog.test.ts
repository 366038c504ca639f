import { describe, expect, it } from '@jest/globals';
import { Backlog } from './backlog.ts';

const fill = (backlog: Backlog, count: number) => {
  for (let i = 0; i < count; i++) backlog.add();
};

function createRequester(backlog: Backlog) {
  const called: string[] = [];
  return {
    called,
    request: (name: string) => {
      backlog.request(() => called.push(name));
    },
  };
}

describe('Backlog', () => {
  it('grants as many requests as there is room for, and the next one when a grant is settled', () => {
    const backlog = new Backlog(1000);
    const { called, request } = createRequester(backlog);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) request(name);
    expect(called).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (let i = 0; i < 3; i++) backlog.settle();
    expect(called).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    backlog.settle();
    expect(called).toHaveLength(7);
  });

  it('is full at its limit, and grants requests in order once half of it is free', () => {
    const backlog = new Backlog(1000);
    const { called, request } = createRequester(backlog);
    fill(backlog, 1000);
    expect(backlog.isFull).toBe(true);
    request('a');
    request('b');
    backlog.remove(400);
    request('c');
    expect([backlog.isFull, called]).toEqual([false, []]);
    backlog.remove(101);
    expect(called).toEqual(['a']);
    // The page arrives: its events take the room of the grant.
    fill(backlog, 200);
    backlog.settle();
    expect(called).toEqual(['a']);
    backlog.remove(699);
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('grants the next request when there are neither events nor grants, whatever the limit', () => {
    const backlog = new Backlog(10);
    const { called, request } = createRequester(backlog);
    for (const name of ['a', 'b', 'c']) request(name);
    expect(called).toEqual(['a']);
    backlog.settle();
    backlog.settle();
    expect(called).toEqual(['a', 'b', 'c']);
  });

  it('does not grant a request that was cancelled, and accepts a request during a grant', () => {
    const backlog = new Backlog(1000);
    const { called, request } = createRequester(backlog);
    fill(backlog, 1000);
    const cancelled = () => called.push('cancelled');
    backlog.request(cancelled);
    backlog.request(() => {
      called.push('a');
      request('b');
    });
    backlog.cancel(cancelled);
    backlog.remove(900);
    expect(called).toEqual(['a', 'b']);
  });
});
