/** Systems that test files lease one after another (CONTRIBUTING.md). */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it, jest } from '@jest/globals';
import { SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';
import { until } from './clients/client.ts';
import { toWebm } from './clients/multipart.ts';
import { type LeasedStack, leaseStack } from './leased-stack.ts';
import type { StackDescription } from './pool-connection.ts';

// These tests start systems themselves, up to two in a test, beside those that other files start.
jest.setTimeout(180_000);

const countUsers = async (stack: LeasedStack) => {
  const [row] = await stack.sql<{ count: number }>('users', 'SELECT count(*)::int AS count FROM users');
  return row?.count;
};

/** Returns the files of all stores. */
async function listFiles({ files }: LeasedStack): Promise<string[]> {
  const entries = await readdir(files, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Whether the process at the address accepts connections. */
const isUp = (url: string) =>
  fetch(`${url}/livez`).then(
    () => true,
    () => false,
  );

describe('a leased stack', () => {
  it('is empty, also after other files have written into it, and the ids of its rows begin at 1', async () => {
    for (const round of [1, 2, 3]) {
      const stack = await leaseStack();
      expect([round, await countUsers(stack), await listFiles(stack)]).toEqual([round, 0, []]);
      const { token } = await stack.createAccount('Root', 'ADMIN');
      const body = { name: 'Rope', category: 'ropes', price: 100, currency: 'EUR', stock: 1 };
      expect((await stack.call('POST', '/v1/products', { token, body })).body).toMatchObject({ id: 1 });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'video/webm' };
      await fetch(`${stack.rest}/v1/videos?title=Rope`, { method: 'POST', body: Uint8Array.from(toWebm(100)), headers });
      expect(await listFiles(stack)).toHaveLength(1);
      await stack.stop();
    }
  });

  it('is stopped when its file ends without giving it back', async () => {
    const socket = connect(process.env['TEST_STACKS_SOCKET'] ?? '');
    socket.write(`${JSON.stringify({ command: 'lease', env: {} })}\n`);
    const [line] = (await once(createInterface({ input: socket }), 'line')) as [string];
    const { stack } = JSON.parse(line) as { stack: StackDescription };
    const urls = [stack.rest, stack.gateway, ...SUBGRAPH_NAMES.map((name) => stack.subgraphUrls[name])];
    expect(await Promise.all(urls.map(isUp))).toEqual(urls.map(() => true));
    socket.destroy();
    await until(async () => (await Promise.all(urls.map(isUp))).every((each) => !each));
  });

  it('ends the processes that its file has started', async () => {
    const stack = await leaseStack();
    const { url } = await stack.startBridge();
    expect(await isUp(url)).toBe(true);
    await stack.stop();
    expect(await isUp(url)).toBe(false);
  });

  it('is lent again to a file that wants the same settings, also after a kill, and is stopped when what was killed was not revived', async () => {
    // Which no other file wants meanwhile.
    const options = { env: { CORS_ORIGINS: 'https://pool.example.com' } };
    const first = await leaseStack(options);
    await first.kill('orders');
    expect(await isUp(first.subgraphs.orders.url)).toBe(false);
    await first.revive('orders');
    expect(await isUp(first.subgraphs.orders.url)).toBe(true);
    await first.stop();
    const other = await leaseStack();
    expect(other.rest).not.toBe(first.rest);
    await other.stop();
    const second = await leaseStack(options);
    expect(second.rest).toBe(first.rest);
    await second.kill('orders');
    await second.stop();
    await until(async () => !(await isUp(second.rest)));
  });
});
