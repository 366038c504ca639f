/** A new supergraph takes over under load without dropping a request; a bad one is refused (issue 2 point 6). */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { schemaPath } from '@trestle/schema/sdl';
import { request, until } from '../../stack/clients/client.ts';
import { type Stack, startStack } from '../../stack/stack.ts';

let stack: Stack;
let directory: string;
let file: string;
let original: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'trestle-swap-'));
  file = join(directory, 'supergraph.graphql');
  original = await readFile(schemaPath('supergraph.graphql'), 'utf8');
  await writeFile(file, original);
  stack = await startStack({ gatewayEnv: { SUPERGRAPH_FILE: file } });
});
afterAll(async () => {
  await stack.stop();
  await rm(directory, { recursive: true });
});

async function replace(text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

/** Returns the description that each gateway serves, once: each reads the file by itself. */
async function describeUser(): Promise<string[]> {
  const body = { query: '{ __type(name: "User") { description } }' };
  const replies = await Promise.all(stack.nodes.map(({ gateway }) => request(`${gateway.url}/graphql`, { method: 'POST', body })));
  return [...new Set(replies.map((reply) => (reply.body as { data: { __type: { description: string } } }).data.__type.description))];
}

const untilServed = (description: string) => until(async () => (await describeUser()).join('|') === description);

it('replaces the supergraph while requests are in flight, and none of them fails', async () => {
  let running = true;
  const outcomes: number[] = [];
  const load = Array.from({ length: 8 }, async () => {
    while (running) {
      const { status, data, errors } = await stack.graphql<{ users: unknown[] }>('{ users { id posts { id } } }');
      outcomes.push(status === 200 && data && errors.length === 0 ? 0 : 1);
    }
  });
  for (const words of ['An account, once more.', 'An account, a third time.']) {
    await replace(original.replace('"""Account of a person."""', `"""${words}"""`));
    await untilServed(words);
    const before = outcomes.length;
    await until(() => Promise.resolve(outcomes.length >= before + 16));
  }
  running = false;
  await Promise.all(load);
  expect(outcomes.reduce((sum, each) => sum + each, 0)).toBe(0);
});

it('rejects an invalid supergraph and serves the one before', async () => {
  const before = await describeUser();
  await replace('type Query { broken: ');
  await replace(`${original}\n# and a good one after it`);
  await untilServed('Account of a person.');
  expect(before).toEqual(['An account, a third time.']);
});
