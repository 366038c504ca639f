import { describe, expect, it } from '@jest/globals';
import { findMatchedHeaders } from './matched-headers.ts';

const isMatched = (name: string) => name.startsWith('x-');
const find = (headers: Readonly<Record<string, string>>, named: string[] = []) =>
  findMatchedHeaders(Object.keys(headers), { valueOf: (name) => headers[name], isMatched, named });

describe('findMatchedHeaders', () => {
  it('returns the headers that match, in one order for equal requests, without those that are named', () => {
    const expected = ['x-a', '1', 'x-b', '2'];
    expect(find({ 'x-b': '2', 'x-c': '3', accept: '*/*', 'x-a': '1' }, ['x-c'])).toEqual(expected);
    expect(find({ 'x-a': '1', 'x-b': '2' })).toEqual(expected);
  });

  it('refuses more than 100 headers, and more than 16,384 characters', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${String(i)}`, 'v']));
    expect(find(many(100))).toHaveLength(200);
    expect(() => find(many(101))).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    expect(find({ 'x-a': 'v'.repeat(16_381) })).toHaveLength(2);
    expect(() => find({ 'x-a': 'v'.repeat(16_382) })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});
