/** The registry or its PostgreSQL is killed at some point of a publish: the old launch is there or the new one, whole (issue 17). */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@trestle/postgres/embedded';
import { until } from '../../stack/clients/client.ts';
import { killTogether } from '../../stack/processes/replicated-postgres.ts';
import { LINK, type TestRegistry, newEnvironment, publish, startRegistry } from './registry-client.ts';

const USERS = `${LINK}\ntype Query { user: User }\ntype User @key(fields: "id") {\n  id: ID!\n  age: Int\n}`;
const ORDERS = `${LINK}\ntype Query { order: Order }\ntype Order { id: ID! buyer: User }\ntype User @key(fields: "id") { id: ID! }`;
const NEXT_USERS = USERS.replace('age: Int', 'age: Int\n  mood: String');

let home: string;
let postgres: EmbeddedPostgres;
let registry: TestRegistry;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-killed-publish-'));
  // A server that a root process starts runs as another user.
  await chmod(home, 0o755);
  postgres = await startEmbeddedPostgres({ dataDir: join(home, 'pg') });
  registry = await startRegistry({}, postgres.url('postgres'));
});
afterAll(async () => {
  await registry.stop();
  await postgres.stop();
  await rm(home, { recursive: true, force: true });
});

interface Current {
  readonly number: number;
  readonly launch: { readonly supergraphSdl: string; readonly subgraphs: readonly { readonly sdl: string }[] };
}

/** Returns the current release of an environment. Rejects while it cannot be read. */
async function readCurrent(environment: string): Promise<Current> {
  const query = 'query ($name: String!) { environment(name: $name) { release { number launch { supergraphSdl subgraphs { sdl } } } } }';
  const { data } = await registry.graphql<{ environment: { release: Current } }>(query, { name: environment });
  if (!data) throw new Error('The environment cannot be read');
  return data.environment.release;
}

/** Kills the process, and returns how it is started again. */
const KILLS: Readonly<Record<string, () => Promise<() => Promise<void>>>> = {
  async 'the registry'() {
    await registry.process().end('SIGKILL');
    return () => registry.start();
  },
  async PostgreSQL() {
    const { dataDir, port } = postgres;
    const [pid] = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8')).split('\n');
    await killTogether(Number(pid));
    return async () => {
      postgres = await startEmbeddedPostgres({ dataDir, port });
    };
  },
};

describe.each(Object.keys(KILLS))('a publish during which %s is killed', (name) => {
  it.each([0, 10, 25, 50, 100, 400])('leaves the old launch or the new one, whole, after %s ms', async (delayMs) => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS });
    const publishing = publish(registry, environment, { users: NEXT_USERS, orders: ORDERS }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const restart = await KILLS[name]?.();
    const acknowledged = await publishing;
    await restart?.();
    await until(async () => (await readCurrent(environment)).number > 0);
    const { number, launch } = await readCurrent(environment);
    const isNew = number === 2;
    if (acknowledged) expect(isNew).toBe(true);
    expect(launch.subgraphs.map(({ sdl }) => sdl)).toEqual(isNew ? [ORDERS, NEXT_USERS] : [USERS]);
    expect(launch.supergraphSdl.includes('mood')).toBe(isNew);
    const again = await publish(registry, environment, { users: NEXT_USERS, orders: ORDERS });
    expect(again).toMatchObject({ release: { number: 2 }, isUnchanged: isNew });
  });
});
