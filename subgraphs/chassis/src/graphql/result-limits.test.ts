import { describe, expect, it } from '@jest/globals';
import { Fault } from '@trestle/schema/errors';
import { buildSchema, execute, parse } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { ItemBudget } from './item-budget.ts';
import { applyResultLimits, finishResult } from './result-limits.ts';

const SDL = 'type Query { nodes: [Node!]! one: Node } type Mutation { change: [Node!]! } type Node { id: Int nodes: [Node!]! }';

interface RunOptions {
  readonly maxItems?: number;
  readonly budget?: ItemBudget;
  readonly isAbandoned?: () => boolean;
}

/** Executes an operation on a schema in which every list has ten nodes; resolves also with how many lists were resolved. */
async function run(query: string, { maxItems = 10_000, budget = new ItemBudget(), isAbandoned }: RunOptions) {
  const schema = buildSchema(SDL);
  let lists = 0;
  const resolve = () => {
    lists++;
    return Promise.resolve(Array.from({ length: 10 }, (_, id) => ({ id })));
  };
  for (const [type, field] of [
    ['Query', 'nodes'],
    ['Mutation', 'change'],
    ['Node', 'nodes'],
  ] as const) {
    const found = schema.getType(type);
    if (found && 'getFields' in found) Object.assign(found.getFields()[field] ?? {}, { resolve });
  }
  applyResultLimits(schema, { maxItems, budget });
  const contextValue: RequestContext = {
    caller: null,
    requestId: 'r',
    denials: new Map(),
    idempotency: null,
    ...(isAbandoned && { isAbandoned }),
  };
  const { data, errors } = finishResult(contextValue, await execute({ schema, document: parse(query), contextValue }));
  const faults = errors?.map(({ originalError }) => (originalError instanceof Fault ? originalError.code : String(originalError)));
  return { data, faults, lists };
}

describe('the lists of a result', () => {
  it('may have as many items together as the limit', async () => {
    const { data, faults } = await run('{ nodes { nodes { id } } }', { maxItems: 110 });
    expect(faults).toBeUndefined();
    expect(data).toMatchObject({ nodes: Array(10).fill({ nodes: Array(10).fill({}) }) });
  });

  it('are VALIDATION_ERROR beyond the limit, reported once, without data, and no further list is read', async () => {
    const { data, faults, lists } = await run('{ nodes { nodes { nodes { nodes { id } } } } }', { maxItems: 109 });
    expect({ data, faults }).toEqual({ data: null, faults: ['VALIDATION_ERROR'] });
    expect(lists).toBe(11);
  });

  it('are counted for each operation on its own', async () => {
    for (let time = 0; time < 3; time++) expect((await run('{ nodes { id } }', { maxItems: 10 })).faults).toBeUndefined();
  });
});

describe('large results', () => {
  const LARGE = '{ nodes { nodes { id } } }';
  /** A budget whose only turn another result has. */
  const occupy = (maxWaitMs: number) => {
    const budget = new ItemBudget({ freeItems: 10, sharedItems: 10, maxWaitMs });
    const other = budget.open();
    void other.take(11);
    return { budget, other };
  };

  it('are complete when they were executed one after another', async () => {
    const { budget, other } = occupy(60_000);
    const results = [run(LARGE, { budget }), run(LARGE, { budget })];
    setImmediate(other.release);
    for (const { data, faults } of await Promise.all(results)) {
      expect(faults).toBeUndefined();
      expect(data).toMatchObject({ nodes: Array(10).fill({ nodes: Array(10).fill({}) }) });
    }
    expect(budget.open().take(11)).toBeUndefined();
  });

  it('are SERVICE_UNAVAILABLE, reported once and without data, when their turn does not come', async () => {
    const { budget } = occupy(1);
    expect(await run(LARGE, { budget })).toMatchObject({ data: null, faults: ['SERVICE_UNAVAILABLE'] });
  });

  it('do not hold up a mutation', async () => {
    const { budget } = occupy(60_000);
    expect(await run('mutation { change { nodes { id } } }', { budget })).toMatchObject({ faults: undefined, lists: 11 });
  });

  it('end when their client has disconnected before their turn', async () => {
    const { budget, other } = occupy(60_000);
    let isAbandoned = false;
    const result = run('{ nodes { nodes { nodes { id } } } }', { budget, isAbandoned: () => isAbandoned });
    setImmediate(() => {
      isAbandoned = true;
      other.release();
    });
    expect(await result).toMatchObject({ data: null, faults: ['SERVICE_UNAVAILABLE'], lists: 11 });
  });
});

describe('a client that disconnects', () => {
  it('ends its query: no further list is read', async () => {
    let calls = 0;
    const { data, faults, lists } = await run('{ nodes { nodes { nodes { id } } } }', { maxItems: 10_000, isAbandoned: () => ++calls > 3 });
    expect({ data, faults, lists }).toEqual({ data: null, faults: ['SERVICE_UNAVAILABLE'], lists: 3 });
  });

  it('does not end its mutation', async () => {
    const { faults, lists } = await run('mutation { change { nodes { id } } }', { maxItems: 10_000, isAbandoned: () => true });
    expect({ faults, lists }).toEqual({ faults: undefined, lists: 11 });
  });
});
