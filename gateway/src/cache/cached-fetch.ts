/** One fetch of a query with the entity cache before it: what is kept is taken, and only the rest is fetched. */
import type { BodyParts, FetchRequest, SendFetch } from '../execute/execute.ts';
import type { FetchDone, SubgraphResult } from '../program/result.ts';
import type { FetchReport } from '../request/cache-report.ts';
import { lifetimeOf } from '../request/cache-policy.ts';
import { type RequestContext, renewContext } from '../request/context.ts';
import { digest } from './cache-key.ts';
import type { CountParts, FetchScope } from './fetch-scope.ts';
import { FetchKeeper } from './fetch-keeper.ts';
import { joinParts, mergeParts, readParts } from './fetched-parts.ts';
import type { ReceivedTags } from './received-tags.ts';
import type { Refreshes } from './refreshes.ts';
import type { FoundResult, ManyFound, ResultStore } from './result-store.ts';
import { splitElements } from './split-elements.ts';

/** What is done with parts whose time is over. */
export interface StaleParts {
  /** For how long they are kept. */
  readonly staleSeconds: number;
  /** Whether this fetch may use them. */
  readonly mayBeStale: boolean;
  readonly refreshes: Refreshes;
}

export interface CachedFetchOptions {
  readonly store: ResultStore;
  readonly stale: StaleParts;
  readonly count: CountParts;
  readonly report: FetchReport;
  readonly scope: FetchScope;
  readonly fetch: FetchRequest;
  readonly bodyParts: BodyParts;
  /** Gets the tags of what is found. */
  readonly tags: ReceivedTags | undefined;
  readonly send: SendFetch;
  /** Goes on after the store has answered later. */
  readonly resume: (act: () => void) => void;
}

/** Longer representations are replaced by their digest. */
const MAX_KEY_CHARACTERS = 128;
/** A fetch of more entities is sent whole, and not kept. */
const MAX_ENTITIES = 1000;
const NO_RESULT: SubgraphResult = {};

export class CachedFetch {
  readonly #options: CachedFetchOptions;
  readonly #done: FetchDone;
  /** What is cached separately: the representation of each entity, as JSON. A fetch at the root has one part, an empty string. */
  readonly #parts: readonly string[];
  readonly #isOfEntities: boolean;
  #found: readonly (FoundResult | undefined)[] = [];
  /** What the response has become, once it was taken. */
  #taken: SubgraphResult | undefined;

  constructor(options: CachedFetchOptions, done: FetchDone) {
    this.#options = options;
    this.#done = done;
    const { representations } = options.bodyParts;
    this.#isOfEntities = representations !== undefined;
    this.#parts = representations === undefined ? [''] : splitElements(representations);
  }

  start(): void {
    const { store, scope, resume } = this.#options;
    if (this.#parts.length > MAX_ENTITIES) {
      this.#sendWhole();
      return;
    }
    const keys = this.#parts.map((part) => `${scope.key}${part.length > MAX_KEY_CHARACTERS ? digest(part) : part}`);
    let isLater = false;
    store.findAll({ keys, tags: scope.clientTags }, (lookup) => {
      const proceed = () => {
        this.#proceed(keys, lookup);
      };
      if (isLater) resume(proceed);
      else proceed();
    });
    isLater = true;
  }

  #proceed(keys: readonly string[], lookup: ManyFound | undefined): void {
    const { count, report, fetch } = this.#options;
    if (!lookup || lookup.isHeld) {
      count('bypass', keys.length);
      this.#sendWhole();
      return;
    }
    report.wanted += keys.length;
    this.#use(keys, lookup);
    const missing = keys.flatMap((_, i) => (this.#found[i] ? [] : [i]));
    const hits = keys.length - missing.length;
    report.found += hits;
    if (hits > 0) this.#noteHits(hits);
    if (missing.length === 0) {
      const bytes = joinParts(
        this.#found.map((each) => (each as FoundResult).bytes),
        this.#isOfEntities,
      );
      this.#done(null, fetch.take?.(bytes, 0, bytes.length) ?? (JSON.parse(bytes.toString()) as SubgraphResult));
      return;
    }
    count('miss', missing.length);
    this.#fetch(keys, missing, lookup.version);
  }

  /** Sends the fetch without the cache. */
  #sendWhole(): void {
    const { report, fetch, send } = this.#options;
    report.hasOthers = true;
    send(fetch, this.#done);
  }

  /** Takes what is kept, and has stale parts fetched again in the background. */
  #use(keys: readonly string[], { found, version }: ManyFound): void {
    const { mayBeStale, refreshes } = this.#options.stale;
    const stale: number[] = [];
    this.#found = found.map((each, i) => {
      if (!each) return undefined;
      if (each.ageMs < lifetimeOf(each.policy) * 1000) return each;
      if (!mayBeStale) return undefined;
      if (refreshes.has(keys[i] as string)) return each;
      if (refreshes.isFull) return undefined;
      stale.push(i);
      return each;
    });
    if (stale.length > 0) this.#refresh(keys, stale, version);
  }

  /** Fetches parts for the cache alone. When that fails, the stale ones stay. */
  #refresh(keys: readonly string[], stale: readonly number[], version: number): void {
    const { fetch, send, stale: parts } = this.#options;
    const context = { ...renewContext(fetch.context), trace: undefined };
    const own = stale.map((i) => keys[i] as string);
    const end = parts.refreshes.begin(own);
    const keeper = this.#createKeeper(own, version, context);
    const take = (bytes: Buffer, start: number, to: number) => {
      const fetched = readParts({ bytes, start, end: to }, this.#isOfEntities);
      if (fetched?.length !== own.length) return undefined;
      keeper.keep(fetched);
      return NO_RESULT;
    };
    send({ ...fetch, context, body: this.#toBody(stale), take, onResponse: keeper.onResponse }, (failure, result) => {
      end();
      if (!failure) keeper.keepResult(result, this.#isOfEntities);
    });
  }

  #createKeeper(keys: readonly string[], version: number, { fetchLog }: Pick<RequestContext, 'fetchLog'>): FetchKeeper {
    const { store, scope, stale } = this.#options;
    return new FetchKeeper({ store, scope, fetchLog, staleSeconds: stale.staleSeconds, version, keys });
  }

  /** Returns the body of a fetch of these parts. */
  #toBody(indexes: readonly number[]): string {
    const { fetch, bodyParts } = this.#options;
    if (indexes.length === this.#parts.length) return fetch.body;
    return `${bodyParts.head}"representations":[${indexes.map((i) => this.#parts[i]).join(',')}]}}`;
  }

  /** What is made of kept parts may be cached no longer than these. */
  #noteHits(hits: number): void {
    const { count, fetch, tags } = this.#options;
    count('hit', hits);
    for (const each of this.#found) {
      if (!each) continue;
      const { policy, ageMs } = each;
      fetch.context.fetchLog.restrictByAge(policy, ageMs);
      if (policy.returned) fetch.context.fetchLog.restrictByAge(policy.returned, ageMs);
      tags?.addKept(each);
    }
  }

  #fetch(keys: readonly string[], missing: readonly number[], version: number): void {
    const { fetch, send } = this.#options;
    const isWhole = missing.length === keys.length;
    const own = missing.map((i) => keys[i] as string);
    const keeper = this.#createKeeper(own, version, fetch.context);
    const body = this.#toBody(missing);
    const take = (bytes: Buffer, start: number, end: number) => {
      const parts = readParts({ bytes, start, end }, this.#isOfEntities);
      if (parts?.length !== missing.length) return undefined;
      keeper.keep(parts);
      return isWhole ? fetch.take?.(bytes, start, end) : this.#takeMerged(parts);
    };
    send({ ...fetch, body, take, onResponse: keeper.onResponse }, (failure, result) => {
      if (this.#taken) this.#done(null, this.#taken);
      else {
        // Such as a response with white space.
        if (!failure) keeper.keepResult(result, this.#isOfEntities);
        this.#done(failure, failure || isWhole ? result : mergeParts(result, { found: this.#found, missing }));
      }
    });
  }

  /** Takes the entities that were fetched together with those that were kept. */
  #takeMerged(fetched: readonly Buffer[]): SubgraphResult {
    let next = 0;
    const bytes = joinParts(
      this.#found.map((each) => each?.bytes ?? (fetched[next++] as Buffer)),
      true,
    );
    return (this.#taken = this.#options.fetch.take?.(bytes, 0, bytes.length) ?? (JSON.parse(bytes.toString()) as SubgraphResult));
  }
}
