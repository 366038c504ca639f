/** Rolling restarts of gateways and bridges behind reverse proxies; `npm run roll` does the same for longer. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hasNginx } from '../../stack/processes/front.ts';
import { rollUnderLoad } from '../../stack/rolling.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

let stack: LeasedStack;
beforeAll(async () => {
  stack = await leaseStack();
});
afterAll(() => stack.stop());

describe('a rolling restart', () => {
  it(`loses no request and repeats no write behind ${hasNginx ? 'nginx' : 'a proxy'} (RFC 9110 §9.2.2, RFC 9112 §9.6)`, async () => {
    const author = await stack.createAccount('Roller');
    const { reads, writes, failures } = await rollUnderLoad({ stack, author, rolls: 1, clients: 4, delayMs: 500 });
    expect(failures).toEqual([]);
    const [row] = await stack.sql<{ count: string }>('content', 'SELECT count(*) FROM posts WHERE "authorId" = $1', [author.id]);
    expect([Number(row?.count), reads > 0]).toEqual([writes, true]);
  });
});
