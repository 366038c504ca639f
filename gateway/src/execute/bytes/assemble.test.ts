import { describe, expect, it } from '@jest/globals';
import { createBufferPool } from '../buffer-pool.ts';
import { ArenaPool } from './arena.ts';
import { assembleInto } from './assemble.ts';
import type { BytesOperation } from './bytes-operation.ts';

const RESPONSE = '{"data":{"a":1}}';
const hole = { fetch: 0, part: 0, hasKey: true, offset: undefined, isOptional: false, representation: 0, words: 2 };
const OPERATION = {
  program: { rootHoles: [0] },
  holes: [hole],
  constants: Buffer.alloc(0),
  resultBytes: 0,
} as unknown as BytesOperation;

/** Assembles a result of one piece of a response, which stands between the texts of others. */
function assemblePiece(from: number, to: number, { records = 1 } = {}) {
  const arena = new ArenaPool().take(0);
  arena.copyIn(Buffer.from('before'), 0, 6);
  const start = arena.copyIn(Buffer.from(RESPONSE), 0, RESPONSE.length);
  arena.copyIn(Buffer.from('behind'), 0, 6);
  const first = arena.top / 4;
  const tape = first + 4;
  arena.words.set([tape, 0, 0, tape + 2, ((start + from) << 1) | 1, start + to], first);
  const state = {
    start,
    end: start + RESPONSE.length,
    records: first,
    count: records,
    parts: 1,
    tape,
    tapeEnd: tape + 2,
    ...{ costs: undefined, errors: [], isWithoutData: false, hasNulls: false },
  };
  const written = assembleInto(createBufferPool(65_536), { arena, operation: OPERATION, states: [state], needsCost: false })?.assembled;
  return written && `${written.bytes.toString('utf8', 0, written.length)}}`;
}

describe('a result of pieces', () => {
  it('has the bytes of the response', () => {
    expect(assemblePiece(9, 14)).toBe(RESPONSE);
  });

  it.each([
    ['before the response', -4, 6],
    ['behind the response', 9, 17],
    ['far outside', 9, 60_000],
    ['of a negative length', 14, 9],
  ])('is refused when a piece is %s', (_, from, to) => {
    expect(() => assemblePiece(from, to)).toThrow('A piece is outside its response.');
  });

  it('is refused when a hole names an entity that is not there', () => {
    expect(() => assemblePiece(9, 14, { records: 0 })).toThrow('A hole has an unknown entity.');
  });
});
