import { describe, expect, it } from '@jest/globals';
import { ArenaPool } from './arena.ts';
import type { BytesOperation } from './bytes-operation.ts';
import { writeRepresentations } from './representations.ts';

const RESPONSE = '{"data":{"a":{"id":"1"}}}';
const KEY_AT = RESPONSE.indexOf('"1"');
const hole = { fetch: 1, part: 0, hasKey: true, offset: undefined, isOptional: false, representation: 0, words: 4 };
const OPERATION = {
  program: { fetches: [{ owners: [] }, { owners: [0] }] },
  holes: [hole],
  representations: [[], [{ texts: [Buffer.from('{"id":'), Buffer.from('}')], length: 7 }]],
} as unknown as BytesOperation;

/** Writes the representation of an entity whose key is at a place relative to the response, which stands between the texts of others. */
function writeKey(from: number, to: number): string {
  const arena = new ArenaPool().take(0);
  arena.copyIn(Buffer.from('before'), 0, 6);
  const start = arena.copyIn(Buffer.from(RESPONSE), 0, RESPONSE.length);
  arena.copyIn(Buffer.from('behind'), 0, 6);
  const tape = arena.top / 4;
  arena.words.set([-1, 0, start + from, start + to], tape);
  arena.top += 16;
  const at = arena.top;
  const state = {
    ...{ start, end: start + RESPONSE.length, records: tape, count: 1, parts: 1 },
    ...{ tape, tapeEnd: tape + 4, costs: undefined, errors: [], isWithoutData: false, hasNulls: false },
  };
  writeRepresentations({ arena, operation: OPERATION, states: [state, undefined] }, 1);
  return arena.bytes.toString('utf8', at, arena.top);
}

describe('a representation', () => {
  it('has the bytes of the key', () => {
    expect(writeKey(KEY_AT, KEY_AT + 3)).toBe('{"id":"1"}');
  });

  it.each([
    ['before the response', -4, 6],
    ['behind the response', KEY_AT, RESPONSE.length + 2],
    ['of a negative length', KEY_AT + 3, KEY_AT],
  ])('is refused when a key is %s', (_, from, to) => {
    expect(() => writeKey(from, to)).toThrow('A key is outside its response.');
  });
});
