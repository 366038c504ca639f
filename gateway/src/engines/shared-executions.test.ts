import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { Cancellation } from '@trestle/service/process/cancellation';
import { Registry } from 'prom-client';
import { createBufferPool } from '../execute/buffer-pool.ts';
import type { Operation } from '../program/operation.ts';
import type { RequestContext } from '../request/context.ts';
import { FetchLog } from '../request/fetch-log.ts';
import type { CheckedOperation } from './check-planned.ts';
import { toOperationResult } from './run-endings.ts';
import { SharedExecutions } from './shared-executions.ts';
import type { Ending } from './write-executed.ts';

const OPERATION = {} as Operation;
const FACTS = { operationKind: 'query', operationName: undefined, caching: undefined, fetched: undefined } as const;

let requests = 0;
/** Creates the context of a request with these headers. */
function createContext(headers: readonly string[] = [], caller: Partial<Caller> | null = null): RequestContext {
  const own = ['x-request-id', `r${String(requests++)}`, ...headers];
  return {
    headers: own,
    identity: headers,
    caller,
    cancellation: new Cancellation(),
    fetchLog: new FetchLog(),
  } as unknown as RequestContext;
}

const check = (conditions: Record<string, unknown> = {}, operation = OPERATION) => ({ operation, conditions }) as CheckedOperation;
const end = (bytes: Buffer, outcome: Ending['outcome'] = 'complete'): Ending => ({
  ...{ outcome, status: undefined, challenge: undefined },
  ...{ bytes, length: bytes.length },
});
const refuseToWait = () => {
  throw new Error('no equal execution was expected');
};

/** Begins an execution, and joins it with the others. `results` gets what they are called with. */
function beginWith(context: RequestContext, ...others: RequestContext[]) {
  const shared = new SharedExecutions(new Registry());
  const results: (Ending | undefined)[] = [];
  const execution = shared.begin(check(), context, refuseToWait);
  for (const other of others)
    expect(
      shared.begin(check(), other, (ending) => {
        results.push(ending);
      }),
    ).toBeUndefined();
  if (!execution) throw new Error('the first execution was expected to begin');
  return { shared, execution, results };
}
const nextTick = () => new Promise((resolve) => setImmediate(resolve));
const buffers = createBufferPool(1e6);

describe('SharedExecutions', () => {
  it('shares executions between the networks of anonymous clients, but not where they may use kept results of fetches', () => {
    for (const hasKeptParts of [false, true]) {
      const shared = new SharedExecutions(new Registry(), { hasKeptParts });
      const begin = (client: string) => shared.begin(check(), { ...createContext(), client }, () => undefined);
      expect(['10.1.0.1', '10.1.0.1', '10.2.0.1'].map((client) => begin(client) !== undefined)).toEqual([true, false, hasKeptParts]);
    }
  });

  it('gives the result of one execution to every equal query, whatever the id of its request', async () => {
    const { execution, results } = beginWith(createContext(), createContext(), createContext());
    const own = execution.settle(end(Buffer.from('{"data":{"a":1}}')), buffers);
    await nextTick();
    expect([own, ...results].map((each) => each?.bytes.toString())).toEqual(Array(3).fill('{"data":{"a":1}}'));
  });

  it('returns the bytes of the execution to the pool once, and those that are shared never', async () => {
    const { execution, results } = beginWith(createContext(), createContext());
    const pooled = buffers.take();
    const own = execution.settle({ ...end(pooled), length: pooled.length }, buffers);
    await nextTick();
    expect(buffers.take()).toBe(pooled);
    for (const ending of [own, results[0] as Ending]) {
      expect(buffers.isPooled(ending.bytes)).toBe(true);
      expect(toOperationResult(ending, FACTS, buffers).release).toBeUndefined();
    }
    expect(toOperationResult(end(pooled), FACTS, buffers).release).toBeDefined();
  });

  it('executes again what differs in its credential, another header, its caller, its variables or its operation', () => {
    const { shared } = beginWith(createContext(['authorization', 'Bearer a']));
    const token = ['authorization', 'Bearer a'];
    const others: [CheckedOperation, RequestContext][] = [
      [check(), createContext(['authorization', 'Bearer b'])],
      [check(), createContext()],
      [check(), createContext([...token, 'x-tenant', 'acme'])],
      [check(), createContext(token, { userId: 'usr_1', tokenId: 't1' })],
      [check(), createContext(token, { userId: 'usr_1', tokenId: 't2' })],
      [check(), { ...createContext(token), identity: [...token, 'labels', 'new-stock'] }],
      [check({ limit: 1 }), createContext(token)],
      [check({}, {} as Operation), createContext(token)],
    ];
    for (const [checked, context] of others) expect(shared.begin(checked, context, refuseToWait)).toBeDefined();
  });

  it('executes again after the end of an execution, and after a change', () => {
    const { shared, execution } = beginWith(createContext());
    execution.settle(end(Buffer.from('{}')), buffers);
    const second = shared.begin(check(), createContext(), refuseToWait);
    expect(second).toBeDefined();
    shared.forget();
    const third = shared.begin(check(), createContext(), refuseToWait);
    expect(third).toBeDefined();
    // The end of an older execution does not end the sharing of the newer one.
    second?.settle(end(Buffer.from('{}')), buffers);
    expect(shared.begin(check(), createContext(), () => undefined)).toBeUndefined();
  });

  it.each(['partial', 'failed', 'refused'] as const)('has equal queries execute for themselves when the result is %s', async (outcome) => {
    const { execution, results } = beginWith(createContext(), createContext());
    const ending = end(Buffer.from('{}'), outcome);
    expect(execution.settle(ending, buffers)).toBe(ending);
    await nextTick();
    expect(results).toEqual([undefined]);
  });

  it('has equal queries execute for themselves when headers of subgraphs go back to the client, such as cookies', async () => {
    const { execution, results } = beginWith(createContext(), createContext());
    execution.context.fetchLog.forward('set-cookie', 'session=1');
    execution.settle(end(Buffer.from('{}')), buffers);
    await nextTick();
    expect(results).toEqual([undefined]);
  });

  it('restricts the caching of every response as the fetches of the execution do', async () => {
    const other = createContext();
    const { execution } = beginWith(createContext(), other);
    execution.context.fetchLog.add('users', 3);
    execution.context.fetchLog.restrictCaching('private, max-age=5', { age: undefined, vary: undefined });
    execution.settle(end(Buffer.from('{}')), buffers);
    await nextTick();
    expect(other.fetchLog.cachePolicy).toMatchObject({ maxAge: 5, isPrivate: true });
  });

  it('cancels the execution when all of its clients have disconnected, and lets nobody join it then', () => {
    const [first, second] = [createContext(), createContext()];
    const { shared, execution } = beginWith(first, second);
    first.cancellation.cancel();
    expect(execution.context.cancellation.isCancelled).toBe(false);
    second.cancellation.cancel();
    expect(execution.context.cancellation.isCancelled).toBe(true);
    expect(shared.begin(check(), createContext(), refuseToWait)).toBeDefined();
  });

  it('has a query execute for itself, once, when its time limit passes while it waits', async () => {
    const other = createContext();
    const { execution, results } = beginWith(createContext(), other);
    other.cancellation.expire();
    expect(results).toEqual([undefined]);
    execution.settle(end(Buffer.from('{}')), buffers);
    await nextTick();
    expect(results).toEqual([undefined]);
  });

  it('gives the result to equal operations of one batch, which have one context', async () => {
    const context = createContext();
    const { execution, results } = beginWith(context, context);
    context.fetchLog.add('users', 3);
    execution.settle(end(Buffer.from('{}')), buffers);
    await nextTick();
    expect(results).toHaveLength(1);
  });

  it('shares no execution whose only client has disconnected before it began', () => {
    const shared = new SharedExecutions(new Registry());
    const left = createContext();
    left.cancellation.cancel();
    expect(shared.begin(check(), left, refuseToWait)?.context.cancellation.isCancelled).toBe(true);
    expect(shared.begin(check(), createContext(), refuseToWait)?.context.cancellation.isCancelled).toBe(false);
  });

  it('does not share a query whose variables have more than 64 K characters', () => {
    const shared = new SharedExecutions(new Registry());
    const checked = check({ text: 'x'.repeat(65_536) });
    for (let n = 0; n < 2; n++) expect(shared.begin(checked, createContext(), refuseToWait)).toBeDefined();
  });
});
