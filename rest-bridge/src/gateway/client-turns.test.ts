import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ClientTurns } from './client-turns.ts';

const KIB = 1024;

describe('ClientTurns', () => {
  let begun: string[] = [];
  const ask = (turns: ClientTurns, client: string, name: string) => {
    const begin = () => {
      begun.push(name);
    };
    turns.take(client, begin);
    return begin;
  };

  beforeEach(() => {
    begun = [];
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('begins work at once while places are free, and then for each client in turn', () => {
    const turns = new ClientTurns({ places: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) ask(turns, 'a', name);
    for (const name of ['b1', 'b2']) ask(turns, 'b', name);
    expect(begun).toEqual(['a1', 'a2']);
    for (const client of ['a', 'a', 'a', 'b', 'a']) turns.release(client);
    expect(begun.slice(2)).toEqual(['a3', 'b1', 'a4', 'b2', 'a5']);
    turns.release('b');
    ask(turns, 'b', 'b3');
    expect(begun.at(-1)).toBe('b3');
  });

  it('begins no more work of a client whose results would take more than its bytes, while others go on', () => {
    const turns = new ClientTurns({ places: 10, bytesPerClient: 200 * KIB });
    for (const name of ['a1', 'a2', 'a3', 'a4']) ask(turns, 'a', name);
    ask(turns, 'b', 'b1');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    const release = turns.hold('a', 150 * KIB);
    for (let n = 0; n < 3; n++) turns.release('a');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    release();
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
  });

  it('begins one piece of work in 100 ms for a client that is beyond its bytes', () => {
    const turns = new ClientTurns({ places: 10, bytesPerClient: 100 * KIB });
    turns.hold('a', 1000 * KIB);
    for (const name of ['a1', 'a2', 'a3']) ask(turns, 'a', name);
    expect(begun).toEqual([]);
    jest.advanceTimersByTime(250);
    expect(begun).toEqual(['a1', 'a2']);
    jest.advanceTimersByTime(100);
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('has few places at first, one more in 10 ms while work waits, and as few again after 4 s without waiting work', () => {
    const turns = new ClientTurns({ places: 4, placesAtFirst: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) ask(turns, 'a', name);
    expect(begun).toEqual(['a1']);
    jest.advanceTimersByTime(20);
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    jest.advanceTimersByTime(1000);
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(jest.getTimerCount()).toBe(0);
    turns.release('a');
    expect(begun.at(-1)).toBe('a5');
    jest.advanceTimersByTime(4000);
    for (let n = 0; n < 4; n++) turns.release('a');
    for (const name of ['a6', 'a7']) ask(turns, 'a', name);
    expect(begun.slice(5)).toEqual(['a6']);
    turns.release('a');
    expect(begun.slice(5)).toEqual(['a6', 'a7']);
  });

  it('never begins work that has left, and gives its turn to the next', () => {
    const turns = new ClientTurns({ places: 1, bytesPerClient: 100 * KIB });
    ask(turns, 'a', 'a1');
    const second = ask(turns, 'a', 'a2');
    ask(turns, 'b', 'b1');
    expect(turns.leave('a', second)).toBe(true);
    expect(turns.leave('a', second)).toBe(false);
    turns.release('a');
    expect(begun).toEqual(['a1', 'b1']);
  });

  it('does not limit the bytes of work without a client', () => {
    const turns = new ClientTurns({ places: 3, bytesPerClient: 10 * KIB });
    for (const name of ['1', '2', '3', '4']) ask(turns, '', name);
    expect(begun).toEqual(['1', '2', '3']);
  });
});
