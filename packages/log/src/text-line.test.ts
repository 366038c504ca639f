import { describe, expect, it } from '@jest/globals';
import { toText } from './text-line.ts';

const TIME = '2026-11-26T16:00:00.000Z';
const write = (fields: object) => toText(`${JSON.stringify({ level: 'info', time: TIME, service: 'gateway', ...fields })}\n`);

describe('toText', () => {
  it('writes time, level, service and message, then the other fields', () => {
    expect(write({ method: 'POST', route: '/graphql', status: 200, operation: 'a "b"', msg: 'request' })).toBe(
      `${TIME} INFO  gateway request method=POST route=/graphql status=200 operation="a \\"b\\""\n`,
    );
  });

  it('writes a field with members as JSON', () => {
    expect(write({ msg: 'request', headers: { 'x-tenant': 'a "b"\u009b' } })).toBe(
      `${TIME} INFO  gateway request headers={"x-tenant":"a \\"b\\"\\u009b"}\n`,
    );
  });

  it('writes the stack of an error and of its causes on indented lines', () => {
    const error = { type: 'Error', message: 'a', stack: 'Error: a\n    at b.ts:1', cause: { type: 'TypeError', message: 'c' } };
    expect(write({ level: 'error', msg: 'failed', error })).toBe(
      `${TIME} ERROR gateway failed\n    Error: a\n    at b.ts:1\n    caused by\n    TypeError: c\n`,
    );
  });

  it.each(['\u001b[2J', 'a\nb', '\r', '\u0007', '\u009b31m', '\u2028', '\u202e'])('writes %j as an escape, wherever it is', (unsafe) => {
    const error = { type: 'Error', message: unsafe, cause: { type: unsafe, message: 'a' } };
    const lines = write({ msg: `x${unsafe}y`, operation: unsafe, error })
      .trimEnd()
      .split('\n');
    expect(lines[0]).toMatch(/^[\x20-\x7e]+$/);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}[\x20-\x7e]*$/);
  });
});
