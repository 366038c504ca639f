/** Keeps the parts of a response as long as the schema and the subgraph allow. */
import type { RespondedHeaders } from '../execute/execute.ts';
import type { SubgraphResult } from '../program/result.ts';
import { type CachePolicy, lifetimeOf, readCachePolicy, toStrictest } from '../request/cache-policy.ts';
import type { RequestContext } from '../request/context.ts';
import type { FetchScope } from './fetch-scope.ts';
import { isNullPart } from './fetched-parts.ts';
import { ReceivedTags } from './received-tags.ts';
import { type KeptPolicy, MAX_RESULT_BYTES, type ResultStore } from './result-store.ts';

export interface FetchKeeperOptions {
  readonly store: Pick<ResultStore, 'put'>;
  readonly scope: FetchScope;
  readonly fetchLog: RequestContext['fetchLog'];
  /** For how long the parts are kept once their time is over. */
  readonly staleSeconds: number;
  /** Of the lookup before the fetch. */
  readonly version: number;
  /** Of each part that is fetched. */
  readonly keys: readonly string[];
}

export class FetchKeeper {
  readonly #options: FetchKeeperOptions;
  readonly #startedAt = performance.now();
  readonly #tags = new ReceivedTags();
  #sent: CachePolicy | undefined;
  /** What header rules return to clients. */
  #returned: CachePolicy | undefined;
  #isOk = false;
  #isKept = false;

  constructor(options: FetchKeeperOptions) {
    this.#options = options;
  }

  /** Notes what the subgraph, and the rules for its headers, say about caching. */
  readonly onResponse = (response: RespondedHeaders, returned?: string): void => {
    this.#isOk = response.status === 200;
    this.#tags.add((name) => response.header(name));
    const { planned, ttlSeconds } = this.#options.scope;
    // Where the schema leaves the time to the subgraph, and the subgraph has none.
    const fallbackSeconds = planned.needsHeader ? ttlSeconds : 0;
    const cacheControl = response.header('cache-control') ?? (fallbackSeconds > 0 ? '' : undefined);
    const fields = { age: response.header('age'), vary: response.header('vary') };
    if (cacheControl !== undefined) this.#sent = readCachePolicy({ ...fields, cacheControl, fallbackSeconds });
    if (returned !== undefined) this.#returned = readCachePolicy({ ...fields, cacheControl: returned });
  };

  /** Keeps copies of the parts. An entity that its subgraph does not know is not kept. */
  keep(parts: readonly Buffer[]): void {
    this.#isKept = true;
    const { store, scope, fetchLog, staleSeconds, version, keys } = this.#options;
    const policy = this.#toPolicy();
    const received = this.#tags.all;
    if (!policy || !received || fetchLog.hasForwarded) return;
    const tags = [...scope.tags, ...received];
    const ageMs = performance.now() - this.#startedAt;
    const keptMs = (lifetimeOf(policy) + staleSeconds) * 1000;
    parts.forEach((part, i) => {
      if (part.length > MAX_RESULT_BYTES || isNullPart(part)) return;
      // With memory of its own: a part of a shared one would keep the whole in use.
      const bytes = Buffer.allocUnsafeSlow(part.length);
      part.copy(bytes);
      store.put(keys[i] as string, { bytes, policy, tags, version, partsVersion: version, ageMs, keptMs });
    });
  }

  /** The same for a response that was parsed, unless it was kept already or has errors. */
  keepResult({ data, errors }: SubgraphResult, isOfEntities: boolean): void {
    if (this.#isKept || !data || (errors && errors.length > 0)) return;
    const parts: unknown = isOfEntities ? data['_entities'] : [data];
    if (Array.isArray(parts) && parts.length === this.#options.keys.length)
      this.keep(parts.map((each) => Buffer.from(JSON.stringify(each))));
  }

  /** Returns undefined when nothing allows to keep it. */
  #toPolicy(): KeptPolicy | undefined {
    const { planned, isOwn } = this.#options.scope;
    if (planned.needsHeader && !this.#sent) return undefined;
    const policy = planned.policy && this.#sent ? toStrictest(planned.policy, this.#sent) : (planned.policy ?? this.#sent);
    if (!policy || !this.#isOk) return undefined;
    const isPrivate = policy.isPrivate || planned.isPrivate;
    // Under a key that clients share, all would get what turned out to be private.
    if (isPrivate && !isOwn) return undefined;
    const kept = { ...policy, isPrivate, ...(this.#returned && { returned: this.#returned }) };
    return lifetimeOf(kept) > 0 ? kept : undefined;
  }
}
