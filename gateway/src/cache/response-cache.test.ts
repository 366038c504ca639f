import { describe, expect, it } from '@jest/globals';
import type { OperationRequest } from '../request/operation.ts';
import { createContext, type ContextSource } from '../request/context.ts';
import { MemoryStore } from './memory-store.ts';
import { Refreshes } from './refreshes.ts';
import { type CacheOutcome, ResponseCache } from './response-cache.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';

const SOURCE = { caller: null, client: undefined, identity: [], requestId: 'r', mutationHeaders: [], trace: undefined };

/** Returns a function that looks for the result of one query, for a new client. */
function createFind() {
  const cache = new ResponseCache({
    ...{ store: new MemoryStore({ maxBytes: 100_000 }), sharing: 'all', staleSeconds: 0, refreshes: new Refreshes(), keepsResults: true },
    ...{ count: () => undefined, entities: undefined, subgraphs: new CachedSubgraphs() },
  });
  return () => {
    const context = createContext({ ...SOURCE, quota: {} as ContextSource['quota'] });
    const request = { query: '{ a }', operationName: undefined, context } as unknown as OperationRequest;
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

describe('ResponseCache', () => {
  it.each(['expire', 'cancel'] as const)('lets a query execute that waits for an equal one when its own time ends: %s', async (end) => {
    const find = createFind();
    const [first, second] = [find(), find()];
    expect([first.waits, first.outcomes.length, second.waits, second.outcomes.length]).toEqual([0, 1, 1, 0]);
    second.cancellation[end]();
    expect(second.outcomes).toEqual([{ pending: expect.anything() }]);
    const [leader] = first.outcomes;
    if (!leader || !('pending' in leader)) throw new Error('the first query was expected to execute');
    const body = { bytes: Buffer.from('{}'), length: 2 };
    const ending = { outcome: 'complete', ...body, restriction: undefined, hasHeaders: false, tags: [], keptVersion: Infinity } as const;
    leader.pending?.settle(ending);
    await new Promise((resolve) => setImmediate(resolve));
    expect(second.outcomes).toHaveLength(1);
  });
});
