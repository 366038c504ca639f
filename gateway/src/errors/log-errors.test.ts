import { describe, expect, it } from '@jest/globals';
import type { Log, LogFields } from '@trestle/log';
import type { ResultError } from '../program/result.ts';
import { logErrors } from './log-errors.ts';

function log(errors: readonly ResultError[]): (LogFields & { readonly msg: string })[] {
  const lines: (LogFields & { readonly msg: string })[] = [];
  const record: Pick<Log, 'error'> = {
    error: (msg, fields) => {
      lines.push({ msg, ...fields });
    },
  };
  logErrors(record as Log, errors, 'r1');
  return lines;
}

const reported = (message: string, i = 0): ResultError => ({ message, path: ['users', i, 'rating'], extensions: { service: 'ratings' } });

describe('logErrors', () => {
  it('writes one line with their number for equal errors of a subgraph, without a stack of the gateway', () => {
    const lines = log([...Array.from({ length: 5 }, (_, i) => reported('unreadable', i)), reported('other')]);
    expect(lines).toMatchObject([
      { msg: 'request failed', requestId: 'r1', code: 'INTERNAL_ERROR', subgraph: 'ratings', count: 5, error: { message: 'unreadable' } },
      { error: { message: 'other' } },
    ]);
    expect(lines[1]).not.toHaveProperty('count');
    expect(lines.map(({ error }) => (error as Error).stack)).toEqual([undefined, undefined]);
  });

  it('keeps the cause of a failed fetch, and writes nothing for what the client caused', () => {
    const cause = new Error('connect ECONNREFUSED');
    const lines = log([
      { message: 'The request failed.', extensions: { code: 'UPSTREAM_ERROR', service: 'ratings' }, cause },
      { message: 'No such user.', extensions: { code: 'NOT_FOUND', service: 'ratings' } },
    ]);
    expect(lines).toEqual([{ msg: 'request failed', requestId: 'r1', code: 'UPSTREAM_ERROR', subgraph: 'ratings', error: cause }]);
  });

  it('says which subgraph has sent a value that violates the schema, and of which field', () => {
    const message = 'Invalid value for User.age.';
    const [line] = log([{ message, path: ['users', 0, 'age'], extensions: { code: 'UPSTREAM_ERROR', service: 'users' } }]);
    expect(line).toMatchObject({ code: 'UPSTREAM_ERROR', subgraph: 'users', error: { message } });
  });

  it('writes at most 20 lines for one result, of which the last one counts the other errors', () => {
    const lines = log(Array.from({ length: 500 }, (_, i) => reported(`unreadable: ${String(i)}`)));
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)).toEqual({ msg: 'request failed, with further errors', requestId: 'r1', count: 481 });
  });
});
