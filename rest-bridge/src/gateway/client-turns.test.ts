import { describe, expect, it } from '@jest/globals';
import { ClientTurns } from './client-turns.ts';

describe('work of several clients', () => {
  it('begins at once while places are free, and then for each client in turn', () => {
    const turns = new ClientTurns(2);
    const begun: string[] = [];
    const ask = (client: string, name: string) => {
      turns.take(client, () => begun.push(name));
    };
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) ask('a', name);
    for (const name of ['b1', 'b2']) ask('b', name);
    expect(begun).toEqual(['a1', 'a2']);
    for (let n = 0; n < 5; n++) turns.release();
    expect(begun.slice(2)).toEqual(['a3', 'b1', 'a4', 'b2', 'a5']);
    turns.release();
    ask('b', 'b3');
    expect(begun.at(-1)).toBe('b3');
  });
});
