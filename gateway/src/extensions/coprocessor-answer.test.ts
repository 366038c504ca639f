import { describe, expect, it } from '@jest/globals';
import { readAnswer } from './coprocessor-answer.ts';

const CALL = { version: 1, stage: 'onPlan', request: { id: 'r1', headers: { 'x-tenant': 'acme' } }, cost: 12, body: '{"data":null}' };
const readCall = () => CALL;

describe('readAnswer', () => {
  it('returns the members of an answer; null is as good as absent', () => {
    expect(readAnswer({ context: { a: 1 }, refuse: null, responseHeaders: { 'x-a': '1' } }, 'onPlan', readCall)).toEqual({
      context: { a: 1 },
      responseHeaders: { 'x-a': '1' },
    });
    expect(readAnswer({ refuse: { code: 'FORBIDDEN' } }, 'onPlan', readCall).refuse).toEqual({
      code: 'FORBIDDEN',
      message: 'The request was refused.',
    });
  });

  it('accepts the members of the call, as coprocessors send them that change what they got', () => {
    expect(
      readAnswer({ ...(JSON.parse(JSON.stringify(CALL)) as typeof CALL), subgraphHeaders: { 'x-a': '1' } }, 'onPlan', readCall),
    ).toEqual({
      subgraphHeaders: { 'x-a': '1' },
    });
  });

  it('returns what it replaced of an operation, and of a result', () => {
    const operation = { query: '{ a }', variables: { limit: 1 } };
    const answered = readAnswer({ query: '{ b }', operationName: 'B', variables: { limit: 1 } }, 'onOperation', () => operation);
    expect(answered.replaced).toEqual({ query: '{ b }', operationName: 'B' });
    expect(readAnswer(operation, 'onOperation', () => operation).replaced).toBeUndefined();
    expect(readAnswer({ body: '{}' }, 'onResponse', readCall).replaced).toEqual({ body: '{}' });
    expect(() => readAnswer({ body: '{}' }, 'onOperation', () => operation)).toThrow('unknown member "body"; known are context,');
  });

  const WRONG: readonly [string, Record<string, unknown>, string][] = [
    [
      'a misspelt member',
      { responseHeader: {} },
      'the unknown member "responseHeader"; known are context, subgraphHeaders, overrideLabels, responseHeaders, refuse',
    ],
    ['a member of another gateway', { headers: {} }, 'the unknown member "headers"; known are context, subgraphHeaders,'],
    ['the name __proto__', JSON.parse('{"__proto__":{}}') as Record<string, unknown>, 'the unknown member "__proto__"'],
    ['a refusal with another member', { refuse: { code: 'FORBIDDEN', massage: 'No.' } }, 'the unknown member "massage" in `refuse`'],
    ['a refusal that is not an object', { refuse: true }, '`refuse` that is not an object'],
    ['a refusal without a code', { refuse: {} }, '`refuse` whose `code` or `message` is not a string'],
    ['a context that is not an object', { context: [] }, '`context` that is not an object'],
    ['a body that it changed', { body: '{}' }, 'changed `body`, which a coprocessor cannot change at this stage'],
    ['headers of the request that it changed', { request: { ...CALL.request, headers: {} } }, 'changed `request`'],
  ];
  it.each(WRONG)('throws an error that names %s', (_, answer, message) => {
    expect(() => readAnswer(answer, 'onPlan', readCall)).toThrow(message);
  });
});
