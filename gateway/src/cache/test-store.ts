/** What tests of stores share. */
import { randomUUID } from 'node:crypto';
import type { Log } from '@trestle/log';
import { RedisStore } from './redis-store.ts';
import type { Lookup, ResultStore, StoredResult } from './result-store.ts';

const POLICY = { maxAge: 60, sharedMaxAge: 60, isPrivate: false };

/** Resolves with what a store has. */
export const find = (store: ResultStore, key: string, tags: readonly string[] = []) =>
  new Promise<Lookup | undefined>((resolve) => {
    store.find({ key, tags }, resolve);
  });
/** Invalidates tags; resolves with whether all processes know. */
export const invalidate = (store: ResultStore, ...tags: string[]) =>
  new Promise<boolean>((resolve) => {
    store.invalidate(tags, resolve);
  });
/** Holds tags; resolves with whether all processes know. */
export const hold = (store: ResultStore, ...tags: string[]) =>
  new Promise<boolean>((resolve) => {
    store.hold(tags, resolve);
  });
/** Returns a result to keep. */
export const toResult = (text: string, version: number, other: Partial<StoredResult> = {}): StoredResult => ({
  bytes: Buffer.from(text),
  policy: POLICY,
  tags: ['a'],
  version,
  partsVersion: version,
  ageMs: 0,
  keptMs: 600_000,
  ...other,
});

const write = () => undefined;
/** Writes nothing. */
export const log: Log = { debug: write, info: write, warn: write, error: write, access: write };

/** Creates a store; by default nothing of another test is under its keys. */
export const createRedisStore = async (
  url: string,
  { keyPrefix = `trestle:test:${randomUUID()}:`, timeoutMs = 20_000, holdMs = 60_000 } = {},
) => {
  const store = new RedisStore({ url, log, keyPrefix, timeoutMs, holdMs });
  await store.settled;
  return store;
};
