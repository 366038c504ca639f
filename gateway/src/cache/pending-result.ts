/** The result of a query that is being executed: it is kept when it may be, and given to the clients that wait for it. */
import { type CachePolicy, lifetimeOf, toStrictest } from '../request/cache-policy.ts';
import type { CacheReport } from '../request/cache-report.ts';
import type { OperationResult } from '../request/operation.ts';
import { MAX_RESULT_BYTES, type ResultStore, type StoredResult } from './result-store.ts';

export interface PendingResultOptions {
  readonly key: string;
  readonly store: Pick<ResultStore, 'put'>;
  /** Of the lookup before the execution. */
  readonly version: number;
  /** What the schema allows. */
  readonly policy: CachePolicy;
  /** Those that the result is invalidated by in any case. */
  readonly tags: readonly string[];
  /** For how long the result is kept once its time is over. */
  readonly staleSeconds: number;
  readonly onEnd?: (ended: PendingResult) => void;
}

/** How an execution has ended. */
export interface Ending extends Pick<OperationResult, 'outcome' | 'bytes' | 'length'> {
  /** What subgraphs add to the policy; undefined when they say nothing. */
  readonly restriction: CachePolicy | undefined;
  /** Whether the response has headers of subgraphs, which are not kept. */
  readonly hasHeaders: boolean;
  /** Tags that subgraphs have sent; undefined when it is not known which. */
  readonly tags: readonly string[] | undefined;
  /** The lowest version of kept parts that the result has; infinite without one. */
  readonly keptVersion: number;
}

/** A result that was just kept. */
export type KeptResult = Pick<StoredResult, 'bytes' | 'policy'>;

type GetKept = (kept: KeptResult | undefined) => void;

export class PendingResult {
  readonly #options: PendingResultOptions;
  readonly #startedAt = performance.now();
  readonly #waiting = new Set<GetKept>();

  constructor(options: PendingResultOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#options.version;
  }

  /**
   * Calls back when the execution has ended, with its result if that may be kept. Returns a function that ends the wait without a call, and returns
   * whether it has.
   */
  join(done: GetKept): () => boolean {
    this.#waiting.add(done);
    return () => this.#waiting.delete(done);
  }

  /** Must be called once, when the execution has ended. Keeps a copy of the bytes. */
  settle(ending: Ending): CacheReport {
    const { key, store, version, staleSeconds, onEnd } = this.#options;
    const kept = this.#toKept(ending);
    onEnd?.(this);
    const [ageMs, staleMs] = [performance.now() - this.#startedAt, staleSeconds * 1000];
    // A mutation may have come meanwhile, which the result is older than.
    const partsVersion = Math.min(version, ending.keptVersion);
    const isStored =
      kept !== undefined && store.put(key, { ...kept, version, partsVersion, ageMs, keptMs: lifetimeOf(kept.policy) * 1000 + staleMs });
    // What is made of an older part may be older than a mutation of another client that waits.
    const shared = partsVersion === version ? kept : undefined;
    // Later: what they do is not part of this request.
    for (const each of this.#waiting) process.nextTick(each, shared);
    this.#waiting.clear();
    return { kind: 'miss', isStored, isCollapsed: false };
  }

  #toKept({ outcome, bytes, length, restriction, hasHeaders, tags: sent }: Ending): (KeptResult & Pick<StoredResult, 'tags'>) | undefined {
    const { policy: allowed, tags: own } = this.#options;
    const policy = restriction ? toStrictest(allowed, restriction) : allowed;
    // Under this key all clients would get a result that turned out to be private.
    const isKept = outcome === 'complete' && !hasHeaders && policy.isPrivate === allowed.isPrivate && lifetimeOf(policy) > 0;
    if (!isKept || !sent || length > MAX_RESULT_BYTES) return undefined;
    // With memory of its own: a part of a shared one would keep the whole in use.
    const copy = Buffer.allocUnsafeSlow(length);
    bytes.copy(copy, 0, 0, length);
    return { bytes: copy, policy, tags: [...own, ...sent] };
  }
}
