/** Parts whose time is over: they are used for a while, and fetched again. The subgraph is a function. */
import { describe, expect, it } from '@jest/globals';
import type { FetchRequest } from '../execute/execute.ts';
import type { FetchDone } from '../program/result.ts';
import type { FetchStep } from '../program/program.ts';
import { type ContextSource, createContext } from '../request/context.ts';
import { EntityCache } from './entity-cache.ts';
import { MemoryStore } from './memory-store.ts';
import { Refreshes } from './refreshes.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';
import { invalidate } from './test-store.ts';

const HEAD = '{"query":"{_entities{of}}","variables":{';
const SOURCE = { caller: null, client: 'c', identity: [], requestId: 'r', mutationHeaders: [], trace: undefined };

/** A subgraph that answers when the test says so, with the cache before it. Parts have 60 s, and 60 more when they are stale. */
function createSystem({ maxRefreshes = 100 } = {}) {
  let now = 0;
  const store = new MemoryStore({ maxBytes: 1e6, now: () => now });
  const options = { sharing: 'anonymous', staleSeconds: 60, count: () => undefined, subgraphs: new CachedSubgraphs() } as const;
  const cache = new EntityCache({ store, ...options, refreshes: new Refreshes(maxRefreshes) });
  const caching = { maxAge: 60, needsHeader: false, isPrivate: false, types: ['T'] };
  const step = { operationName: undefined, caching } as unknown as FetchStep;
  const waiting: { ids: number[]; answer: (text: string) => void; fail: () => void }[] = [];
  const send = ({ body, take, onResponse }: FetchRequest, done: FetchDone) => {
    const { representations } = (JSON.parse(body) as { variables: { representations: { id: number }[] } }).variables;
    const answer = (text: string) => {
      onResponse?.({ status: 200, header: () => undefined });
      const bytes = Buffer.from(`{"data":{"_entities":[${representations.map(({ id }) => `{"of":"${text} ${String(id)}"}`).join(',')}]}}`);
      done(null, take?.(bytes, 0, bytes.length) ?? (JSON.parse(bytes.toString()) as object));
    };
    const fail = () => {
      done({ code: 'UPSTREAM_ERROR', message: 'm', cause: undefined }, {});
    };
    waiting.push({ ids: representations.map(({ id }) => id), answer, fail });
  };
  /** Returns what a query gets at once, and how long its result may be cached; undefined while it waits for the subgraph. */
  const read = (ids: readonly number[], mayBeStale = true) => {
    const context = createContext({ ...SOURCE, quota: {} as ContextSource['quota'] });
    const representations = ids.map((id) => `{"id":${String(id)}}`).join(',');
    const report = { wanted: 0, found: 0, hasOthers: false };
    const resume = (act: () => void) => {
      act();
    };
    let got: string | undefined;
    const take = (bytes: Buffer, start: number, end: number) => {
      const { data } = JSON.parse(bytes.toString('utf8', start, end)) as { data: { _entities: { of: string }[] } };
      got = data._entities.map(({ of }) => of).join();
      return {};
    };
    const body = `${HEAD}"representations":[${representations}]}}`;
    const request = { service: 's', isMutation: false, body, bodyParts: { step, head: HEAD, representations }, context, take };
    cache.open({ context, hash: 'h', tags: undefined, mayBeStale, report, resume }, send)(request, () => undefined);
    return got === undefined ? undefined : [got, context.fetchLog.restriction?.maxAge];
  };
  const keep = (ids: readonly number[], text: string) => {
    read(ids);
    waiting.pop()?.answer(text);
  };
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  return { store, waiting, read, keep, pass };
}

describe('a part whose time is over', () => {
  it('is used at once, in a result that no cache may keep, while one fetch replaces all of them', () => {
    const { waiting, read, keep, pass } = createSystem();
    keep([1, 2], 'old');
    pass(30);
    keep([3], 'newer');
    pass(39);
    expect([read([1, 3, 2]), read([2, 1])]).toEqual([
      ['old 1,newer 3,old 2', 0],
      ['old 2,old 1', 0],
    ]);
    expect(waiting.map(({ ids }) => ids)).toEqual([[1, 2]]);
    waiting.pop()?.answer('new');
    expect([read([1, 2]), read([3]), waiting]).toEqual([['new 1,new 2', 59], ['newer 3', 20], []]);
  });

  it('stays when it cannot be fetched, and is fetched again for the next query', () => {
    const { waiting, read, keep, pass } = createSystem();
    keep([1], 'old');
    pass(60);
    read([1]);
    waiting.pop()?.fail();
    expect([read([1]), waiting.length]).toEqual([['old 1', 0], 1]);
  });

  it('is not used after the seconds for stale results, nor for what replaces a stale result', () => {
    const { waiting, read, keep, pass } = createSystem();
    keep([1], 'old');
    pass(60);
    expect([read([1], false), waiting.length]).toEqual([undefined, 1]);
    pass(60);
    expect([read([1]), waiting.length]).toEqual([undefined, 2]);
  });

  it.each([
    ['a type', 'type:T'],
    ['the client that has made a mutation', 'client:c'],
  ])('is not used after an invalidation of %s, nor is what was fetched before it', async (_, tag) => {
    const { store, waiting, read, keep, pass } = createSystem();
    keep([1], 'old');
    pass(60);
    read([1]);
    await invalidate(store, tag);
    expect(read([1])).toBeUndefined();
    waiting.shift()?.answer('before the change');
    expect(read([1])).toBeUndefined();
    waiting.shift()?.answer('after the change');
    expect(read([1])?.[0]).toBe('after the change 1');
  });

  it('is fetched by the query itself where too many are being replaced', () => {
    const { waiting, read, keep, pass } = createSystem({ maxRefreshes: 1 });
    keep([1], 'old');
    keep([2], 'old');
    pass(60);
    expect([read([1])?.[0], read([2]), read([1])?.[0], waiting.length]).toEqual(['old 1', undefined, 'old 1', 2]);
    for (const { answer } of waiting.splice(0)) answer('new');
    pass(60);
    expect(read([2])?.[0]).toBe('new 2');
  });
});
