/** What sends the fetches of one operation: the hooks around them, and the entity cache before them. */
import type { CachedRun } from '../cache/cached-run.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { SendFetch } from '../execute/execute.ts';
import { createSendFetch } from '../execute/send-fetch.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { mayChangeFetches } from '../extensions/may-change-fetches.ts';
import type { Operation } from '../program/operation.ts';
import type { FetchReport } from '../request/cache-report.ts';
import type { Measure, RequestContext } from '../request/context.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';

/** What an engine sends by. */
export interface SendingParts {
  readonly request: OperationRequest;
  readonly snapshot: Snapshot;
  readonly hooks: Hooks;
  readonly measure: Measure;
  readonly cache: ResponseCache | undefined;
}

/** One execution. */
export interface SendingRun {
  readonly operation: Operation;
  readonly context: RequestContext;
  /** An exception in a callback must end its request, not the process. */
  readonly guard: (act: () => void) => void;
  readonly cached: CachedRun | undefined;
}

export interface OperationSend {
  readonly send: SendFetch;
  /** What the entity cache has found so far; undefined without it. */
  readonly fetched: FetchReport | undefined;
}

/**
 * Creates it for one execution. A mutation, and an operation with a report of its plan, must see the subgraphs: they have no entity cache. Neither has an
 * operation whose fetches an extension may change.
 */
export function createOperationSend({ request, snapshot, hooks, measure, cache }: SendingParts, run: SendingRun): OperationSend {
  const { operation, context, guard, cached } = run;
  const plain = createSendFetch(snapshot.upstream, guard, cached ? cached.observe(hooks) : hooks);
  const send = cached ? cached.watch(plain) : plain;
  const entities = cache?.entities;
  if (!entities || operation.program.kind !== 'query' || request.reports.plan || mayChangeFetches(context, hooks))
    return { send, fetched: undefined };
  const report: FetchReport = { wanted: 0, found: 0, hasOthers: false };
  const resume = (act: () => void) => {
    measure(context.client, () => {
      guard(act);
    });
  };
  return {
    send: entities.open({ context, hash: snapshot.hash, tags: cached?.tags, mayBeStale: !cached?.isRefresh, report, resume }, send),
    fetched: report,
  };
}
