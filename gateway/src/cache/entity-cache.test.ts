import { describe, expect, it } from '@jest/globals';
import type { FetchRequest } from '../execute/execute.ts';
import type { FetchStep } from '../program/program.ts';
import { type ContextSource, createContext } from '../request/context.ts';
import { EntityCache } from './entity-cache.ts';
import { MemoryStore } from './memory-store.ts';

const SOURCE = {
  caller: null,
  client: undefined,
  requestId: 'r',
  mutationHeaders: [],
  quota: {} as ContextSource['quota'],
  trace: undefined,
};

/** Returns a function that sends one fetch with a cache before it, and returns whether the subgraph was asked. */
function createFetch(isPrivate: boolean, cacheControl: string) {
  const cache = new EntityCache({ store: new MemoryStore({ maxBytes: 100_000 }), sharing: 'anonymous', count: () => undefined });
  const step = { operationName: undefined, caching: { maxAge: 60, needsHeader: false, isPrivate, types: [] } } as unknown as FetchStep;
  return (...identity: string[]): boolean => {
    const context = createContext({ ...SOURCE, identity });
    let isSent = false;
    const send = cache.open(
      {
        context,
        hash: 'h',
        tags: undefined,
        report: { wanted: 0, found: 0 },
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
});
