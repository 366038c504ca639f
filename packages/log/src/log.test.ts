import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { describeError } from './log.ts';

describe('describeError', () => {
  it('returns type and masked message of an error and its causes', () => {
    const error = new Error('outer', { cause: new Error('ada@example.org failed') });
    expect(describeError(error)).toMatchObject({ type: 'Error', message: 'outer', cause: { message: '[email] failed' } });
  });

  it('returns only the type of a value that is not an Error', () => {
    expect(describeError('secret')).toEqual({ type: 'string', message: 'not an Error' });
  });

  it.each([
    [{ message: undefined }, { type: 'Error', message: 'not a string' }],
    [{ message: { a: 1 } }, { type: 'Error', message: 'not a string' }],
    [{ name: undefined }, { type: 'Error', message: 'failed' }],
    [{ stack: [] }, { type: 'Error', message: 'failed' }],
  ])('describes an Error with %j', (fields, expected) => {
    expect(describeError(Object.assign(new Error('failed'), fields))).toMatchObject(expected);
  });

  it('describes the first error of an AggregateError as its cause', () => {
    const error = new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')], '');
    expect(describeError(error)).toMatchObject({ type: 'AggregateError', cause: { message: 'connect ECONNREFUSED ::1:80' } });
  });
});

describe('createLog', () => {
  it('does not block the process when the reader of its standard output reads nothing', async () => {
    const script = `import { createLog } from './packages/log/dist/log.js';
    const log = createLog({ service: 'test', level: 'info' });
    for (let i = 0; i < 4096; i++) log.access({ operation: 'x'.repeat(250) });
    process.send('running');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    try {
      const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(15_000) })) as [string];
      expect(message).toBe('running');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('writes a request as one JSON line, whatever characters the operation name contains', () => {
    const script = `import { createLog } from './packages/log/dist/log.js';
    const log = createLog({ service: 'test', level: 'info' });
    log.access({ requestId: 'r', status: 200, operation: 'a"b\\\\n' });
    log.access({ durationMs: 1 });`;
    const lines = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim().split('\n');
    const [first, second] = lines.map((line) => JSON.parse(line) as object);
    expect(first).toMatchObject({ level: 'info', service: 'test', requestId: 'r', status: 200, operation: 'a"b\\n', msg: 'request' });
    expect(second).toMatchObject({ durationMs: 1, time: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('adds the fields of each withFields to every line', () => {
    const script = `import { createLog, withFields } from './packages/log/dist/log.js';
    const log = withFields(withFields(createLog({ service: 'test', level: 'info' }), { worker: 2 }), { graph: 'shop' });
    log.access({ status: 200 });
    log.info('ready', { port: 4000 });`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { service: 'test', worker: 2, graph: 'shop', status: 200, msg: 'request' },
      { service: 'test', worker: 2, graph: 'shop', port: 4000, msg: 'ready' },
    ]);
  });

  it('writes from the new level on after setLevel, requests included', () => {
    const script = `import { createLog } from './packages/log/dist/log.js';
    const log = createLog({ service: 'test', level: 'info' });
    for (const level of ['error', 'debug']) {
      log.setLevel(level);
      log.access({ route: level });
      log.debug(level);
    }`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(text.match(/"(?:route|msg)":"(?:error|debug)"/g)?.sort()).toEqual(['"msg":"debug"', '"route":"debug"']);
  });

  it('bounds the size of every field, and of the messages and stacks of errors and their causes', () => {
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
});
