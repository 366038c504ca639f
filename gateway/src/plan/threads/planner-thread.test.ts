/** Real threads, and documents that take too much time or memory: they are refused, and other documents are planned. */
import { readFileSync, readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { type PlannerThread, THREAD_LIMITS, startPlannerThread } from './planner-thread.ts';
import { PlannerUnavailable } from './planner-unavailable.ts';

const { supergraphSdl = '' } = composeServices([
  {
    name: 'one',
    url: 'http://one.invalid/',
    typeDefs: parse('type Query { a: Int b(n: Int, f: Filter): Thing } input Filter { f: Filter } type Thing { c: Int thing: Thing }'),
  },
]);
const limits = { ...DEFAULT_LIMITS, maxTokens: 10_000_000, maxRootFields: 10_000_000, maxAliases: 10_000_000, maxSelections: 10_000_000 };
const request = (query: string) => ({ query, operationName: undefined, labels: [] });
const MODEST = ['{ a }', '{ b { c } }', '{ b(n: 1) { thing { c } } }'];

/** Apollo's planner takes twice the time for each level of a literal. */
const DEEP = `${'{ f: '.repeat(9)}{}${' }'.repeat(9)}`;
const repeatDeep = (count: number) => `{ ${Array.from({ length: count }, (_, i) => `a${String(i)}: b(f: ${DEEP}) { c }`).join(' ')} }`;
const HARD = repeatDeep(20_000);

let thread: PlannerThread;
afterEach(() => thread.stop());

/** Expects that a document is refused, and that the documents before and behind it are planned. */
async function tryOut(culprit: string): Promise<void> {
  const first = thread.prepare(request('query First { a }'));
  const refused = thread.prepare(request(culprit));
  const behind = MODEST.map((query) => thread.prepare(request(query)));
  await expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('too much time or memory') });
  // The new thread is not ready yet.
  const early = thread.prepare(request('query Early { a }'));
  for (const prepared of [first, ...behind, early]) expect(await prepared).toHaveProperty('program.kind', 'query');
  expect(await thread.introspect(request('query($a: Boolean!) { __typename @include(if: $a) }'), { a: true })).toBeDefined();
}

/** Returns how many threads of this process have each niceness. */
function countPriorities(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of readdirSync('/proc/self/task')) {
    // The fields behind the name, which ends with the last parenthesis: niceness is the 19th field of all (proc_pid_stat(5)).
    const niceness =
      readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[16] ?? '';
    counts.set(niceness, (counts.get(niceness) ?? 0) + 1);
  }
  return counts;
}

(process.platform === 'linux' ? it : it.skip)('plans in a thread of lower priority than the one that serves requests', async () => {
  const own = getPriority();
  const count = () => countPriorities().get(String(own + 5)) ?? 0;
  const before = count();
  thread = await startPlannerThread(supergraphSdl, limits);
  expect(count()).toBe(before + 1);
  expect(getPriority()).toBe(own);
});

describe('a planner thread', () => {
  it('refuses an operation that takes too long to plan, and plans those that waited behind it in a new thread, repeatedly', async () => {
    thread = await startPlannerThread(supergraphSdl, limits, { timeoutMs: 1500, maxHeapMb: 2048 });
    await tryOut(HARD);
    await tryOut(`${HARD} # again`);
  });

  it('refuses a document at once that took too long to plan before', async () => {
    thread = await startPlannerThread(supergraphSdl, limits, { timeoutMs: 1500, maxHeapMb: 2048 });
    const refusal = { code: 'VALIDATION_ERROR', message: expect.stringContaining('too much time or memory') };
    await expect(thread.prepare(request(HARD))).rejects.toMatchObject(refusal);
    const order: string[] = [];
    const planned = thread.prepare(request('query Other { a }')).then(() => order.push('planned'));
    await expect(thread.prepare(request(HARD))).rejects.toMatchObject(refusal);
    order.push('refused');
    await planned;
    // A document that is planned again has its turn behind the other one.
    expect(order).toEqual(['refused', 'planned']);
  });

  it('refuses an operation that takes too much memory to plan, and plans those that waited behind it in a new thread', async () => {
    thread = await startPlannerThread(supergraphSdl, limits, { timeoutMs: 100_000, maxHeapMb: 128 });
    await tryOut(`{ ${'a '.repeat(1_000_000)} }`);
  });

  it('rejects the start with the reason when the supergraph is invalid or too large for a thread', async () => {
    thread = await startPlannerThread(supergraphSdl, limits);
    const invalid = startPlannerThread('type Query { a: Int }', limits);
    await expect(invalid).rejects.toThrow('not a supergraph');
    await expect(invalid).rejects.not.toBeInstanceOf(PlannerUnavailable);
    const starved = startPlannerThread(supergraphSdl, limits, { timeoutMs: 1000, maxHeapMb: 4 });
    await expect(starved).rejects.toThrow(/memory|ended/);
    await expect(starved).rejects.toBeInstanceOf(PlannerUnavailable);
  });

  it('rejects requests while the gateway stops, and completes those of a retired planner', async () => {
    thread = await startPlannerThread(supergraphSdl, limits);
    const asked = thread.prepare(request('{ a }'));
    thread.retire();
    expect(await asked).toHaveProperty('program');
    await expect(thread.prepare(request('{ b { c } }'))).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    const other = await startPlannerThread(supergraphSdl, limits);
    const late = expect(other.prepare(request('{ a }'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await other.stop();
    await late;
  });

  it('returns light documents of one client while heavy ones of another are planned', async () => {
    thread = await startPlannerThread(supergraphSdl, limits, { timeoutMs: 100_000, maxHeapMb: 2048 });
    const heavy = (n: number) => `{ ${Array.from({ length: 1500 }, (_, i) => `a${String(n)}_${String(i)}: b { c }`).join(' ')} }`;
    let isHeavyDone = false;
    const flood = Promise.all([1, 2, 3, 4].map((n) => thread.prepare(request(heavy(n)), 'one'))).then(() => (isHeavyDone = true));
    for (let n = 0; n < 10; n++) expect(await thread.prepare(request(`{ b(n: ${String(n)}) { c } }`), 'two')).toHaveProperty('program');
    expect(isHeavyDone).toBe(false);
    await flood;
  });

  it('refuses documents beyond the number of one client that may wait, and plans those of another client', async () => {
    thread = await startPlannerThread(supergraphSdl, limits);
    const many = Array.from({ length: 300 }, (_, n) => thread.prepare(request(`query Q${String(n)} { a }`), 'one'));
    const other = thread.prepare(request('query Other { a }'), 'two');
    const settled = await Promise.allSettled(many);
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(200);
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } });
    expect(await other).toHaveProperty('program');
  });

  it.each([
    [true, ['second of a', 'first of b']],
    [false, ['first of b', 'second of a']],
  ])('lets a client wait that has used its share while several are present: %s', async (isShared, last) => {
    thread = await startPlannerThread(supergraphSdl, limits, { ...THREAD_LIMITS, isShared: () => isShared });
    // More than 100 ms of planning, also on a fast machine.
    await thread.prepare(request(repeatDeep(500)), 'a');
    const order: string[] = [];
    const prepare = async (name: string) => {
      await thread.prepare(request(`query ${name.replaceAll(' ', '_')} { a b { c } }`), name.at(-1));
      order.unshift(name);
    };
    await Promise.all(['second of a', 'first of b'].map(prepare));
    expect(order).toEqual(last);
  });
});
