/** Changes of one environment at once, and one whose response is lost with its process: what gateways are served is what was meant. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { until } from '../../stack/clients/client.ts';
import { type RunningProcess, startProcess } from '../../stack/processes/process.ts';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { type Answer, ORDERS, type TestRegistry, USERS, newEnvironment, publish, startRegistry } from './registry-client.ts';

const ROLLBACK = `mutation ($input: RollbackInput!) { rollback(input: $input) { number launch { id } } }`;
const PROMOTE = `mutation ($input: PromoteInput!) { promote(input: $input) { number launch { id } canary { launch { id } } } }`;

let registry: TestRegistry;
let other: RunningProcess;
let client: pg.Client;
beforeAll(async () => {
  registry = await startRegistry();
  const port = String(await reserveTestPort());
  const keyFile = `${registry.home}/registry.key`;
  const settings = { REGISTRY_PORT: port, REGISTRY_DATABASE_URL: registry.databaseUrl, REGISTRY_SIGNING_KEY_FILE: keyFile };
  other = await startProcess('registry', settings);
  client = new pg.Client({ connectionString: registry.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await other.end('SIGTERM');
  await registry.stop();
});

/** An environment whose second release is to be undone. */
let environment: string;
let [good, bad] = ['', ''];
beforeEach(async () => {
  environment = newEnvironment();
  good = launchOf(await publish(registry, environment, { users: USERS }));
  bad = launchOf(await publish(registry, environment, { orders: ORDERS }));
});

const launchOf = ({ release }: Awaited<ReturnType<typeof publish>>) => release?.launch.id ?? '';
const codeOf = ({ errors: [error] }: Answer<unknown>) => error?.extensions.code;

/** Returns the ids of the launches of all releases, the oldest first. */
async function readLaunches(): Promise<string[]> {
  const { rows } = await client.query<{ launchId: string }>(
    'SELECT "launchId" FROM "releases" WHERE "environment" = $1 ORDER BY "number"',
    [environment],
  );
  return rows.map(({ launchId }) => launchId);
}

/** Sends a request to the second process. */
async function sendToOther<Data>(query: string, variables: object): Promise<Answer<Data>> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${registry.token}` };
  const response = await fetch(`${other.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors = [] } = (await response.json()) as Partial<Answer<Data>>;
  return { data, errors };
}

describe('a rollback of a named release', () => {
  it('is made once when two people send it at once to two processes', async () => {
    const input = { environment, expectedRelease: 2 };
    const results = await Promise.all([registry.graphql(ROLLBACK, { input }), sendToOther(ROLLBACK, { input })]);
    expect(results.map(codeOf).sort()).toEqual(['CONFLICT', undefined]);
    expect(await readLaunches()).toEqual([good, bad, good]);
  });

  it('does not undo a publish that came between', async () => {
    const next = launchOf(await publish(registry, environment, { users: USERS.replace('age: Int', 'age: Float') }));
    expect(codeOf(await registry.graphql(ROLLBACK, { input: { environment, expectedRelease: 2 } }))).toBe('CONFLICT');
    expect(await readLaunches()).toEqual([good, bad, next]);
  });

  it('serves the earlier launch when it is sent again after the registry was killed between the commit and the response', async () => {
    const input = { environment, expectedRelease: 2 };
    await killAtCommit(() => registry.graphql(ROLLBACK, { input }));
    expect(await readLaunches()).toEqual([good, bad, good]);
    expect(codeOf(await registry.graphql(ROLLBACK, { input }))).toBe('CONFLICT');
    expect(await readLaunches()).toEqual([good, bad, good]);
  });
});

describe('a promotion for a named release', () => {
  it('serves to all the canary that was looked at, and no other one that came between', async () => {
    const elsewhere = newEnvironment();
    const third = launchOf(await publish(registry, elsewhere, { users: USERS.replace('age: Int', 'age: Float') }));
    await registry.graphql(PROMOTE, { input: { to: environment, launch: good, percent: 10 } });
    const changed = await registry.graphql(PROMOTE, { input: { to: environment, launch: third, percent: 10 } });
    expect(codeOf(changed)).toBeUndefined();
    expect(codeOf(await registry.graphql(PROMOTE, { input: { to: environment, expectedRelease: 3 } }))).toBe('CONFLICT');
    expect(codeOf(await registry.graphql(PROMOTE, { input: { to: environment, expectedRelease: 4 } }))).toBeUndefined();
    expect((await readLaunches()).at(-1)).toBe(third);
  });
});

/**
 * Kills the first process after PostgreSQL has committed what a request does, and before it is answered; then starts it again. The commit waits for
 * a lock, so that the process can be suspended before it learns of it.
 */
async function killAtCommit(request: () => Promise<unknown>): Promise<void> {
  await client.query(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1, 1); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_for_test AFTER INSERT ON "releases" DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait_for_test();
    SELECT pg_advisory_lock(1, 1)`);
  const before = (await readLaunches()).length;
  const lost = request().catch(() => undefined);
  await until(async () => {
    const waiting = await client.query(`SELECT FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = 1 AND NOT "granted"
      AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())`);
    return waiting.rows.length > 0;
  });
  process.kill(registry.process().pid ?? 0, 'SIGSTOP');
  await client.query('SELECT pg_advisory_unlock(1, 1)');
  await until(async () => (await readLaunches()).length > before);
  await registry.process().end('SIGKILL');
  await lost;
  await client.query('DROP TRIGGER wait_for_test ON "releases"; DROP FUNCTION wait_for_test');
  await registry.start();
}
