import { describe, expect, it } from '@jest/globals';
import type { FetchRequest } from '../execute/execute.ts';
import type { FetchCaching, FetchStep } from '../program/program.ts';
import { type ContextSource, createContext } from '../request/context.ts';
import { EntityCache } from './entity-cache.ts';
import { MemoryStore } from './memory-store.ts';
import { Refreshes } from './refreshes.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';

const SOURCE = {
  caller: null,
  client: undefined,
  requestId: 'r',
  mutationHeaders: [],
  quota: {} as ContextSource['quota'],
  trace: undefined,
};

const HINT = { maxAge: 60, needsHeader: false };
const NO_HINT = { maxAge: undefined, needsHeader: true };

/** Returns a function that sends one fetch with a cache before it, and returns whether the subgraph was asked. */
function createFetch(
  isPrivate: boolean,
  cacheControl: string | undefined,
  { subgraphs = new CachedSubgraphs(), hint = HINT }: { subgraphs?: CachedSubgraphs; hint?: Partial<FetchCaching> } = {},
) {
  const store = new MemoryStore({ maxBytes: 100_000 });
  const rest = { staleSeconds: 0, refreshes: new Refreshes(), count: () => undefined, subgraphs };
  const cache = new EntityCache({ store, sharing: 'anonymous', ...rest });
  const step = { operationName: undefined, caching: { ...hint, isPrivate, types: [] } } as unknown as FetchStep;
  return (...identity: string[]): boolean => {
    const context = createContext({ ...SOURCE, identity });
    let isSent = false;
    const send = cache.open(
      {
        context,
        hash: 'h',
        tags: undefined,
        mayBeStale: true,
        report: { wanted: 0, found: 0, hasOthers: false },
        resume: (act) => {
          act();
        },
      },
      ({ onResponse }, done) => {
        isSent = true;
        onResponse?.({ status: 200, header: (name) => (name === 'cache-control' ? cacheControl : undefined) });
        done(null, { data: { name: 'a' } });
      },
    );
    const fetch: FetchRequest = {
      ...{ service: 's', isMutation: false, body: '{"query":"{name}"}', context },
      bodyParts: { step, head: '{"query":"{name}"}', representations: undefined },
    };
    send(fetch, () => undefined);
    return isSent;
  };
}

describe('EntityCache', () => {
  it.each([
    ['with a PRIVATE field', true, 'max-age=60'],
    ['that its subgraph calls private', false, 'private, max-age=60'],
  ])('keeps a fetch %s for each credential, and for no client without one', (_, isPrivate, cacheControl) => {
    const fetch = createFetch(isPrivate, cacheControl);
    const of = (...identity: string[]) => [fetch(...identity), fetch(...identity)];
    expect(of('authorization', 'Bearer a')).toEqual([true, false]);
    expect(of('authorization', 'Bearer b')).toEqual([true, false]);
    expect(of('cookie', 'session=a')).toEqual([true, false]);
    expect(of('accept-language', 'de')).toEqual([true, true]);
    expect(of()).toEqual([true, true]);
  });

  it('keeps a public fetch for each value of the headers that subgraphs get', () => {
    const fetch = createFetch(false, 'max-age=60');
    expect([fetch('accept-language', 'de'), fetch('accept-language', 'de'), fetch('accept-language', 'fr')]).toEqual([true, false, true]);
  });

  const isKept = (fetch: (...identity: string[]) => boolean, ...identity: string[]) => {
    fetch(...identity);
    return !fetch(...identity);
  };
  const withTtl = (ttlSeconds: number) =>
    new CachedSubgraphs({ all: { enabled: true, ttlSeconds: 0 }, bySubgraph: new Map([['s', { ttlSeconds }]]) });

  it.each([
    ['nothing', undefined, true],
    ['no time', 'public', true],
    ['another time', 'max-age=5', true],
    ['no-store', 'no-store', false],
    ['no-cache', 'no-cache', false],
    ['a time that is over', 'max-age=0', false],
    ['a time that is no number', 'max-age=soon', false],
    ['that it is private', 'private', false],
  ])('with a time for the subgraph, a fetch without a hint of which it says %s is kept or not', (_, cacheControl, kept) => {
    const ask = createFetch(false, cacheControl, { subgraphs: withTtl(30), hint: NO_HINT });
    expect(isKept(ask)).toBe(kept);
  });

  it('keeps nothing without a time by default, and what is private for each credential only', () => {
    expect(isKept(createFetch(false, undefined, { hint: NO_HINT }))).toBe(false);
    const ask = createFetch(false, 'private', { subgraphs: withTtl(30), hint: NO_HINT });
    expect([isKept(ask, 'authorization', 'Bearer a'), isKept(ask, 'authorization', 'Bearer b')]).toEqual([true, true]);
    expect(ask('authorization', 'Bearer c')).toBe(true);
  });

  it('keeps nothing of a subgraph that is disabled, from the change on', () => {
    const subgraphs = new CachedSubgraphs();
    const ask = createFetch(false, undefined, { subgraphs });
    expect(isKept(ask)).toBe(true);
    subgraphs.use({ all: { enabled: true, ttlSeconds: 0 }, bySubgraph: new Map([['s', { enabled: false }]]) });
    expect(ask()).toBe(true);
    subgraphs.use({ all: { enabled: false, ttlSeconds: 0 }, bySubgraph: new Map([['s', { enabled: true }]]) });
    expect(ask()).toBe(false);
  });
});
