/** What the response cache does around one execution: before it for a query, and after it for a query and a mutation. */
import type { SendFetch } from '../execute/execute.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import type { Program } from '../program/program.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { PendingResult } from './pending-result.ts';
import { ReceivedTags } from './received-tags.ts';
import type { CacheableQuery, CachedResult, ResponseCache } from './response-cache.ts';

export interface CachedRunOptions {
  readonly cache: ResponseCache;
  readonly request: OperationRequest;
  readonly program: Pick<Program, 'kind' | 'name' | 'types'>;
  /** The hash of the supergraph. */
  readonly hash: string;
  /** For a run that only refreshes what the cache has: what its result is passed to. */
  readonly pending?: PendingResult | undefined;
}

export class CachedRun {
  readonly #options: CachedRunOptions;
  readonly #tags = new ReceivedTags();
  #pending: PendingResult | undefined;
  /** Whether a subgraph may still execute a mutation that it has got. */
  #isUnsettled = false;

  constructor(options: CachedRunOptions) {
    this.#options = options;
    this.#pending = options.pending;
  }

  /**
   * Calls back once, with the result of the cache; undefined when the query must be executed. `refresh` is what the result of another execution is passed
   * to, if this one is stale.
   */
  find(
    query: Pick<CacheableQuery, 'policy' | 'variables' | 'onWait'>,
    done: (result: OperationResult | undefined, refresh?: PendingResult) => void,
  ): void {
    const { cache, request, program, hash } = this.#options;
    cache.find({ ...query, request, hash, types: program.types }, (outcome) => {
      if ('bytes' in outcome) {
        done(this.#toResult(outcome), outcome.refresh);
        return;
      }
      this.#pending = outcome.pending;
      done(undefined);
    });
  }

  #toResult({ bytes, policy, report }: CachedResult): OperationResult {
    const { kind, name } = this.#options.program;
    const facts = { operationKind: kind, operationName: name, caching: policy, cached: report };
    return { outcome: 'complete', status: undefined, challenge: undefined, bytes, length: bytes.length, release: undefined, ...facts };
  }

  /** Whether the run only refreshes what the cache has. */
  get isRefresh(): boolean {
    return this.#options.pending !== undefined;
  }

  /** The tags of what the result is made of. */
  get tags(): ReceivedTags {
    return this.#tags;
  }

  /** Returns the hooks of fetches that collect the tags of responses, too. */
  observe<Observed extends Pick<Hooks, 'onSubgraphResponse'>>(hooks: Observed): Observed {
    const { onSubgraphResponse } = hooks;
    return {
      ...hooks,
      onSubgraphResponse: (event) => {
        this.#tags.add(event.header);
        onSubgraphResponse?.(event);
      },
    };
  }

  /** Returns `send`, watched for mutations that may be executed although they have failed. */
  watch(send: SendFetch): SendFetch {
    if (this.#options.program.kind !== 'mutation') return send;
    return (fetch, done) => {
      send(fetch, (failure, result) => {
        if (fetch.isMutation && failure?.mayBeExecuted) this.#isUnsettled = true;
        done(failure, result);
      });
    };
  }

  /** Calls back once, when the client may get the result: after a mutation, when no later request of the client gets an older result. */
  end(result: OperationResult, done: (result: OperationResult) => void): void {
    const { cache, request, program } = this.#options;
    const { context } = request;
    const { outcome } = result;
    if (program.kind === 'mutation') {
      const isDone = outcome === 'complete' || outcome === 'partial';
      const change = isDone ? { types: program.types, tags: this.#tags.all } : undefined;
      cache.noteMutation(context, { change, isUnsettled: this.#isUnsettled }, () => {
        done(result);
      });
      return;
    }
    const { restriction, hasForwarded: hasHeaders } = context.fetchLog;
    const { bytes, length } = result;
    const sources = { tags: this.#tags.all, keptVersion: this.#tags.keptVersion };
    const report = this.#pending?.settle({ outcome, bytes, length, restriction, hasHeaders, ...sources });
    done({ ...result, cached: report ?? { kind: 'bypass' } });
  }
}
