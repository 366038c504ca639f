import { describe, expect, it } from '@jest/globals';
import type { OperationRequest } from '../request/operation.ts';
import { createContext, type ContextSource } from '../request/context.ts';
import { MemoryStore } from './memory-store.ts';
import { Refreshes } from './refreshes.ts';
import { type CacheOutcome, ResponseCache } from './response-cache.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';

const SOURCE = { caller: null, client: undefined, identity: [], requestId: 'r', mutationHeaders: [], trace: undefined };

/** Returns a function that looks for the result of a query, for a new client. */
function createFind({ now = (): number => 0, staleSeconds = 0, maxRefreshes = 100 } = {}) {
  const store = new MemoryStore({ maxBytes: 100_000, now });
  const cache = new ResponseCache({
    ...{ store, sharing: 'all', staleSeconds, refreshes: new Refreshes(maxRefreshes), keepsResults: true },
    ...{ count: () => undefined, entities: undefined, subgraphs: new CachedSubgraphs() },
  });
  return (query = '{ a }') => {
    const context = createContext({ ...SOURCE, quota: {} as ContextSource['quota'] });
    const request = { query, operationName: undefined, context } as unknown as OperationRequest;
    const policy = { maxAge: 60, sharedMaxAge: 60, isPrivate: false };
    const found = { outcomes: [] as CacheOutcome[], waits: 0, cancellation: context.cancellation };
    const onWait = () => {
      found.waits++;
    };
    cache.find({ request, hash: 'h', variables: {}, policy, types: [], onWait }, (outcome) => {
      found.outcomes.push(outcome);
    });
    return found;
  };
}

const BODY = { bytes: Buffer.from('{}'), length: 2 };
const COMPLETE = { outcome: 'complete', ...BODY, restriction: undefined, hasHeaders: false, tags: [], keptVersion: Infinity } as const;

/** Ends the execution of a query that is to be executed. */
function settle({ outcomes: [outcome] }: { readonly outcomes: readonly CacheOutcome[] }): void {
  if (!outcome || !('pending' in outcome)) throw new Error('the query was expected to execute');
  outcome.pending?.settle(COMPLETE);
}

describe('ResponseCache', () => {
  it.each(['expire', 'cancel'] as const)('lets a query execute that waits for an equal one when its own time ends: %s', async (end) => {
    const find = createFind();
    const [first, second] = [find(), find()];
    expect([first.waits, first.outcomes.length, second.waits, second.outcomes.length]).toEqual([0, 1, 1, 0]);
    second.cancellation[end]();
    expect(second.outcomes).toEqual([{ pending: expect.anything() }]);
    settle(first);
    await new Promise((resolve) => setImmediate(resolve));
    expect(second.outcomes).toHaveLength(1);
  });

  it('executes a query with a stale result itself when as many executions in the background are in flight as there may be', () => {
    let now = 0;
    const find = createFind({ now: () => now, staleSeconds: 60, maxRefreshes: 1 });
    for (const query of ['{ a }', '{ b }']) settle(find(query));
    now += 61_000;
    const [stale] = find('{ a }').outcomes;
    expect(stale).toMatchObject({ bytes: BODY.bytes, refresh: expect.anything() });
    expect(find('{ b }').outcomes).toEqual([{ pending: expect.anything() }]);
    if (stale && 'refresh' in stale) stale.refresh?.settle(COMPLETE);
    expect(find('{ a }').outcomes).toEqual([expect.objectContaining({ refresh: undefined })]);
  });
});
