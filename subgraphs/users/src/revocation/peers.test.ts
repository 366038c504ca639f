/** On a real PostgreSQL, with several peers that apply revocations when the test lets them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import pg from 'pg';
import { RevocationPeers } from './peers.ts';

let testDatabase: TestDatabase;
let pool: pg.Pool;
const started: RevocationPeers[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'users', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  pool = new pg.Pool({ connectionString: testDatabase.url, max: 1 });
});
afterEach(() => Promise.all(started.splice(0).map((peers) => peers.stop())));
afterAll(async () => {
  await pool.end();
  await testDatabase.drop();
});

const CONNECTED = `SELECT "objid"::int4 AS "number", "pid" FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = 72707373
  AND "database" = (SELECT "oid" FROM pg_database WHERE "datname" = current_database())`;

/** Returns the numbers of the peers that are connected. */
async function readNumbers(): Promise<number[]> {
  return (await pool.query<{ number: number }>(CONNECTED)).rows.map(({ number }) => number);
}

/** Longer than a busy machine takes. */
const PATIENT_MS = 60_000;

/** Starts a peer. It applies revocations at once, except while it is held. */
async function start(answerMs = PATIENT_MS) {
  const applied: Revocation[] = [];
  const warnings: string[] = [];
  let held = Promise.resolve();
  const peer = {
    applied,
    warnings,
    release: (): void => undefined,
    hold() {
      held = new Promise((resolve) => (peer.release = resolve));
    },
    peers: new RevocationPeers({
      url: testDatabase.url,
      answerMs,
      log: { warn: (message) => warnings.push(message) },
      async apply(revocation) {
        await held;
        applied.push(revocation);
      },
    }),
  };
  started.push(peer.peers);
  await peer.peers.start();
  return peer;
}

const one = { userId: 'usr_1', tokenId: 't1' };
const two = { userId: 'usr_2', generation: 3 };

describe('RevocationPeers', () => {
  it('resolves at once when there is no other process, and before the start', async () => {
    await new RevocationPeers({ url: testDatabase.url, log: { warn: () => undefined }, apply: () => Promise.resolve() }).revoke(one);
    const { peers, applied, warnings } = await start();
    await peers.revoke(one);
    expect([applied, warnings]).toEqual([[], []]);
  });

  it('resolves when every other process has applied the revocation', async () => {
    const [from, fast, slow] = await Promise.all([start(), start(), start()]);
    slow.hold();
    const order: string[] = [];
    const revoking = from.peers.revoke(one).then(() => order.push('resolved'));
    // Those of another process are applied meanwhile.
    const other = fast.peers.revoke(two);
    while (fast.applied.length === 0 || from.applied.length === 0) await new Promise((resolve) => setImmediate(resolve));
    order.push('released');
    slow.release();
    await Promise.all([revoking, other]);
    expect(order).toEqual(['released', 'resolved']);
    expect([from.applied, fast.applied]).toEqual([[two], [one]]);
    expect(new Set(slow.applied)).toEqual(new Set([one, two]));
  });

  it('does not wait for ever for a process that does not answer, and not again until it answers', async () => {
    const [from, silent] = await Promise.all([start(500), start()]);
    silent.hold();
    await from.peers.revoke(one);
    const warning = 'processes of users did not apply a revocation in time';
    expect(from.warnings).toEqual([warning]);
    await from.peers.revoke(one);
    expect(from.warnings).toEqual([warning]);
    silent.release();
    // It is answered when the other has received it, and so knows that this one is there.
    await silent.peers.revoke(two);
    silent.hold();
    await from.peers.revoke(one);
    expect(from.warnings).toEqual([warning, warning]);
    silent.release();
  });

  it('does not wait for a process that has stopped', async () => {
    const [from, gone] = await Promise.all([start(), start()]);
    gone.hold();
    await gone.peers.stop();
    while ((await readNumbers()).length > 1);
    await from.peers.revoke(one);
    expect(from.warnings).toEqual([]);
  });

  it('connects again after its connection was lost', async () => {
    const [from, to] = await Promise.all([start(), start()]);
    const before = await readNumbers();
    await pool.query(`SELECT pg_terminate_backend("pid") FROM (${CONNECTED}) AS "connected"`);
    const areConnected = (numbers: readonly number[]) => numbers.filter((number) => !before.includes(number)).length === 2;
    while (!areConnected(await readNumbers()));
    // The lock is taken just before the peer uses its new connection.
    while (to.applied.length === 0) {
      await from.peers.revoke(one);
      // Without a connection it resolves before anything else can happen.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(to.applied[0]).toEqual(one);
    expect(from.warnings[0]).toBe('revocations reach the other processes of users late');
  });
});
