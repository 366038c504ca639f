/** `operations push` and `operations remove` in batches, against a server with the registry's answers. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '../run.ts';
import { createTerminal } from '../terminal.ts';

const ADDED = { data: { pushOperations: { added: 100, unchanged: 0, invalid: [] } } };
const details = [{ field: 'documents.1', message: 'must be a document with one operation that has a name' }];
const REFUSED = { data: null, errors: [{ message: 'The request is not valid', extensions: { code: 'VALIDATION_ERROR', details } }] };

let server: Server;
let folder: string;
let answers: unknown[] = [];
let inputs: { readonly hashes?: readonly string[] }[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.once('end', () => {
      inputs.push((JSON.parse(Buffer.concat(parts).toString()) as { variables: { input: object } }).variables.input);
      response.end(JSON.stringify(answers.shift()));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'trestle-operations-'));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

interface Answer {
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string };
}

/** Runs a command of `operations` for the client `web`. Returns the exit code and the JSON. */
async function runOperations(word: string, given: readonly string[]): Promise<[number, Answer]> {
  const written: string[] = [];
  const stream = { isTTY: false, write: (text: string) => written.push(text) };
  const terminal = createTerminal({ stdout: stream, stderr: stream } as unknown as Pick<NodeJS.Process, 'stdout' | 'stderr'>, {});
  const registry = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const args = ['operations', word, ...given, '--client', 'web', '--environment', 'prod', '--registry', registry, '--json'];
  inputs = [];
  const code = await run(args, { REGISTRY_TOKEN: 'token' }, terminal);
  return [code, JSON.parse(written.join('')) as Answer];
}

/** Pushes so many files. Returns the exit code and the error of the JSON. */
async function push(count: number): Promise<[number, Answer['error']]> {
  const files = Array.from({ length: count }, (_, at) => join(folder, `${String(at)}.graphql`));
  for (const file of files) await writeFile(file, 'query Q { a }');
  const [code, { error }] = await runOperations('push', files);
  return [code, error];
}

describe('operations push', () => {
  it('names the file that the registry refuses, and what was registered before', async () => {
    answers = [ADDED, REFUSED];
    const [code, error] = await push(102);
    expect([code, error.code]).toEqual([4, 'VALIDATION_ERROR']);
    expect(error.message).toContain(`${join(folder, '101.graphql')} must be a document`);
    expect(error.message).toContain('The first 100 documents were registered before.');
  });

  it('says nothing of documents before when the first ones are refused', async () => {
    answers = [REFUSED];
    const [, { message }] = await push(2);
    expect(message).toContain(join(folder, '1.graphql'));
    expect(message).not.toContain('registered before');
  });

  it('ends with code 4 when the server answers without data', async () => {
    answers = [{ data: null }];
    expect(await push(1)).toMatchObject([4, { code: 'REGISTRY_ERROR' }]);
  });
});

describe('operations remove', () => {
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

  it('takes files and hashes, 1,000 at once', async () => {
    const file = join(folder, 'removed.graphql');
    await writeFile(file, 'query Removed { a }');
    const hashes = Array.from({ length: 1000 }, (_, at) => hashOf(String(at)));
    const last = hashOf('999');
    const removed = (count: number, unknown: readonly string[]) => ({ data: { removeOperations: { removed: count, unknown } } });
    answers = [removed(1000, []), removed(0, [last])];
    const [code, { data }] = await runOperations('remove', [file, ...hashes]);
    expect([code, data]).toMatchObject([0, { removed: 1000, unknown: [last] }]);
    expect(inputs.map((input) => input.hashes)).toEqual([[hashOf('query Removed { a }'), ...hashes.slice(0, 999)], [last]]);
  });

  it('ends with code 2 for a file that cannot be read, and removes nothing', async () => {
    const [code] = await runOperations('remove', [join(folder, 'missing.graphql')]);
    expect([code, inputs]).toEqual([2, []]);
  });
});
