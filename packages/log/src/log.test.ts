import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { describeError, mask } from './log.ts';

it('takes tokens, e-mail addresses, hashes and passwords in URLs out of what is logged (spec §5.10)', () => {
  const text = mask('eyJhbGciOi.eyJzdWIi.c2ln from ada@example.org by postgres://app:hunter2@db/x with $argon2id$v=19$m=1$abc');
  expect(text).toBe('[token] from [email] by postgres://app:[password]@db/x with [hash]');
});

it('describes an error and its causes, masked', () => {
  const error = new Error('outer', { cause: new Error('ada@example.org failed') });
  expect(describeError(error)).toMatchObject({ type: 'Error', message: 'outer', cause: { message: '[email] failed' } });
  expect(describeError('secret')).toEqual({ type: 'string', message: 'not an Error' });
});

it('writes the line of a request as JSON, whatever a client named its operation', () => {
  const script = `import { createLog } from './packages/log/dist/log.js';
    const log = createLog({ service: 'test', level: 'info' });
    log.access({ requestId: 'r', status: 200, operation: 'a"b\\\\n' });
    log.access({ durationMs: 1 });`;
  const lines = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim().split('\n');
  const [first, second] = lines.map((line) => JSON.parse(line) as object);
  expect(first).toMatchObject({ level: 'info', service: 'test', requestId: 'r', status: 200, operation: 'a"b\\n', msg: 'request' });
  expect(second).toMatchObject({ durationMs: 1, time: expect.stringMatching(/^\d{4}-.*Z$/) });
});

it('bounds every field of a line, the messages and stacks of errors and their causes', () => {
  const script = `import { createLog } from './packages/log/dist/log.js';
    const huge = '漢'.repeat(400_000);
    const deep = Object.assign(new Error(huge, { cause: new Error(huge, { cause: new Error(huge) }) }), { name: huge });
    const log = createLog({ service: 'test', level: 'info' });
    log.access({ requestId: huge, operation: huge, route: huge });
    log.error(huge, { requestId: huge, route: huge, code: huge, error: deep });`;
  const lines = execFileSync(process.execPath, ['--input-type=module', '-e', script], { maxBuffer: 1024 * 1024 })
    .toString()
    .trim()
    .split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    JSON.parse(line);
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
  }
});
