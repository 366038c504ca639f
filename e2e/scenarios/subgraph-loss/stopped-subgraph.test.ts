/** A process of a subgraph is stopped for longer than the gateway waits for a mutation (spec §7.3: 504). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let content: RunningProcess;
let ada: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  content = await stack.startSubgraph('content');
});
afterAll(async () => {
  signal('SIGCONT');
  await stack.stop();
});

function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  if (content.pid !== undefined) process.kill(content.pid, name);
}

async function createPost(title: string, waitMs = 10_000): Promise<number> {
  const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }';
  const { status } = await fetch(`${content.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` },
    body: JSON.stringify({ query, variables: { input: { title } } }),
    signal: AbortSignal.timeout(waitMs),
  });
  return status;
}

it('does not execute mutations that were given up while it was stopped', async () => {
  expect(await createPost('Before')).toBe(200);
  signal('SIGSTOP');
  // On connections that are open already, and on new ones.
  const givenUp = Array.from({ length: 5 }, () => createPost('Given up', 300));
  expect((await Promise.allSettled(givenUp)).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
  signal('SIGCONT');
  // By the end of these requests the process has read what waited in its sockets.
  for (let round = 0; round < 10; round++) expect(await createPost(`After ${String(round)}`)).toBe(200);
  const titles = await stack.sql<{ title: string }>('content', `SELECT title FROM posts WHERE title IN ('Before', 'Given up')`);
  expect(titles.map(({ title }) => title)).toEqual(['Before']);
});
