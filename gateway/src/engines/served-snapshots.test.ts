/** Snapshots of real planners, and the order in which they replace each other (ADR 43). */
import { afterEach, expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { generateSigningKeys, parseSigningKey, signArtifact } from '@trestle/schema/artifact';
import { parse } from 'graphql';
import { NO_ACCESS } from '../access/access-rule.ts';
import { readDelivered } from '../launches/delivered.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/threads/planner-thread.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import { type Snapshot, createSnapshot } from '../supergraph/snapshot.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { RuntimeSettings } from './engine.ts';
import { ServedSnapshots } from './served-snapshots.ts';

const key = parseSigningKey(generateSigningKeys().privateKeyPem);
const compose = (fields: string) =>
  composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs: parse(`type Query { ${fields} }`) }]).supergraphSdl ?? '';
const [OLD, NEW] = [compose('a: Int'), compose('a: Int b: Int')];
const [oldLaunch, newLaunch] = ['a'.repeat(64), 'b'.repeat(64)];
const ask = (query: string) => ({ query, operationName: undefined });

const started: Snapshot[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map(({ planner }) => planner.stop()));
});

async function load({ sdl }: { readonly sdl: string }): Promise<Snapshot> {
  const planner = await startPlannerThread(sdl, DEFAULT_LIMITS);
  const upstreams = { open: () => ({}) as Upstream, retire: () => undefined };
  const snapshot = createSnapshot({ planner, upstreams, labels: { active: [], header: undefined }, accessOf: () => NO_ACCESS });
  started.push(snapshot);
  return snapshot;
}

/**
 * Serves requests of clients in and out of the share until both launches have some: those of the canary fail, the others do not. With `inParts` they
 * fail in a later part of their results.
 */
function failCanary(served: ServedSnapshots, { inParts = false } = {}): void {
  for (let i = 0; i < 100; i++) {
    const context = { caller: null, client: `10.0.0.${String(i)}`, identity: [], requestId: 'r' };
    const run = (snapshot: Snapshot, done: (result: OperationResult) => void) => {
      const outcome = snapshot.hash === started[1]?.hash ? 'partial' : 'complete';
      const rest: OperationResult['rest'] = (send) => {
        send(Buffer.from('{}'), outcome);
      };
      done({ outcome: inParts ? 'complete' : outcome, status: undefined, ...(inParts && { rest }) } as OperationResult);
    };
    const receive = ({ rest }: OperationResult) => rest?.(() => undefined);
    served.run({ ...ask('{ a }'), context } as unknown as OperationRequest, receive, run);
  }
}

/** Serves a launch with a canary beside it. */
async function serveCanary(loadSnapshot: typeof load): Promise<ServedSnapshots> {
  const canary = { launch: newLaunch, percent: 50, supergraphSdl: NEW };
  const delivered = readDelivered(signArtifact({ environment: 'prod', release: 1, launch: oldLaunch, supergraphSdl: OLD, canary }, key));
  const served = await ServedSnapshots.create(
    { delivered, settings: {} as RuntimeSettings, current: await load(delivered) },
    {
      load: loadSnapshot,
      onSwitch: () => undefined,
      warmUp: { maxOperations: 200, maxMs: 120_000 },
      canary: { header: undefined, minRequests: 10, errorFactor: 2, p95Factor: 2 },
      metrics: { count: () => undefined, countReturn: () => undefined },
      log: { info: () => undefined, warn: () => undefined },
    },
  );
  expect(served.served.map(({ role }) => role)).toEqual(['current', 'canary']);
  return served;
}

it('plans operations of a promoted canary, also when the canary failed while it was being promoted', async () => {
  const served = await serveCanary(load);
  const { current } = served;
  // It is used most, and not planned for the canary yet.
  await current.prepare(ask('query Late { a }'), { access: NO_ACCESS });
  const promoted = served.swap(signArtifact({ environment: 'prod', release: 2, launch: newLaunch, supergraphSdl: NEW }, key));
  await new Promise(setImmediate);
  failCanary(served);
  await promoted;
  expect(served.served).toMatchObject([{ role: 'current', launch: { launch: newLaunch, release: 2 } }]);
  expect(await served.current.prepare(ask('{ a b }'), { access: NO_ACCESS })).toHaveProperty('operation');
});

it.each([{ inParts: false }, { inParts: true }])('ends a canary whose results have errors (%j)', async (options) => {
  const served = await serveCanary(load);
  failCanary(served, options);
  expect(served.served.map(({ role }) => role)).toEqual(['current']);
});

it('says when requests have other settings, which is before the canary has them', async () => {
  let open = (): void => undefined;
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  let canaries = 0;
  const served = await serveCanary(async (given) => {
    if (given.sdl === NEW && ++canaries === 2) await isOpen;
    return load(given);
  });
  const settings = {} as RuntimeSettings;
  let isDone = false;
  const settingsAtSwitch = new Promise<RuntimeSettings>((resolve) => {
    void served
      .reconfigure(settings, () => {
        resolve(served.settings);
      })
      .then(() => (isDone = true));
  });
  expect(await settingsAtSwitch).toBe(settings);
  expect(isDone).toBe(false);
  open();
  await served.reconfigure(settings, () => undefined);
  expect(served.served.map(({ role }) => role)).toEqual(['current', 'canary']);
});

it('does not say so for settings that the supergraph cannot be loaded with', async () => {
  let isBroken = false;
  const served = await serveCanary((given) => (isBroken ? Promise.reject(new Error('no memory')) : load(given)));
  isBroken = true;
  let hasSwitched = false;
  const refused = served.reconfigure({} as RuntimeSettings, () => (hasSwitched = true));
  await expect(refused).rejects.toThrow('no memory');
  expect(hasSwitched).toBe(false);
});
