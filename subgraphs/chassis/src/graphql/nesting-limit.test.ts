import { describe, expect, it } from '@jest/globals';
import { MAX_NESTING, limitNesting } from './nesting-limit.ts';

const nest = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);
const documentRefusal = 'The document is nested deeper than the limit of 500 levels.';
const variablesRefusal = '`variables` is nested deeper than the limit of 500 levels.';
const refusal = (message: string) => expect.objectContaining({ code: 'VALIDATION_ERROR', message });

describe('limitNesting', () => {
  it.each([
    ['selections', '{a', '}'],
    ['lists', '[', ']'],
    ['objects', '{a:', '}'],
    ['selections behind comments, strings and block strings', '{a(b:"}\\"}",c:"""}\\"""}\n""",d:"")#}\n', '}'],
  ])('accepts 500 levels of %s in a document, and refuses 501', (_, open, close) => {
    expect(() => {
      limitNesting({ query: nest(open, close, MAX_NESTING) });
    }).not.toThrow();
    for (const levels of [MAX_NESTING + 1, 100_000])
      expect(() => {
        limitNesting({ query: nest(open, close, levels) });
      }).toThrow(refusal(documentRefusal));
  });

  it.each([
    ['comments', '#{[{\n'],
    ['strings', '"{[\\"{"'],
    ['block strings', '"""{[\\"""{"""'],
  ])('does not count brackets in %s', (_, text) => {
    expect(() => {
      limitNesting({ query: text.repeat(MAX_NESTING) });
    }).not.toThrow();
  });

  it('stops at the end of a document whose string or block string is not closed', () => {
    for (const query of ['{a(b:"', '{a(b:"\\', '{a(b:"""', '{a(b:"""\\"""', '#'])
      expect(() => {
        limitNesting({ query });
      }).not.toThrow();
  });

  it.each([
    ['an object', (text: string) => JSON.parse(text) as unknown],
    ['a string', (text: string) => text],
  ])('accepts 500 levels of variables that are %s, and refuses 501', (_, read) => {
    const write = (levels: number) => read(`{"a":${nest('[', ']', levels - 1)}}`);
    expect(() => {
      limitNesting({ query: '{a}', variables: write(MAX_NESTING) });
    }).not.toThrow();
    for (const levels of [MAX_NESTING + 1, 100_000])
      expect(() => {
        limitNesting({ query: '{a}', variables: write(levels) });
      }).toThrow(refusal(variablesRefusal));
  });

  it('leaves parameters of other types to Apollo Server', () => {
    for (const each of [{}, { query: 1, variables: null }, { query: null, variables: 'x' }])
      expect(() => {
        limitNesting(each);
      }).not.toThrow();
  });
});
