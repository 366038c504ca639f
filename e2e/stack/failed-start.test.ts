/** A system that cannot be started leaves no process behind, which would keep the test run from its end. */
import { expect, it } from '@jest/globals';
import { startStack } from './stack.ts';
import { findChildren } from './processes/supervisor-process.ts';

it('ends the processes that have started when a later one fails', async () => {
  await expect(startStack({ nodes: 1, bridgeEnv: { MAX_IN_FLIGHT: 'many' } })).rejects.toThrow('Invalid settings');
  const rooms = ['subgraphs/users', 'subgraphs/orders', 'subgraphs/content', 'gateway', 'rest-bridge'];
  expect(rooms.flatMap((room) => findChildren(process.pid, `/${room}/dist/bundle/main.js`))).toEqual([]);
});
