/** One fetch of a query with the entity cache before it: what is kept is taken, and only the rest is fetched. */
import type { BodyParts, FetchRequest, SendFetch } from '../execute/execute.ts';
import type { FetchDone, SubgraphResult } from '../program/result.ts';
import type { FetchReport } from '../request/cache-report.ts';
import { digest } from './cache-key.ts';
import type { CountParts, FetchScope } from './fetch-scope.ts';
import { FetchKeeper } from './fetch-keeper.ts';
import { isObjectText, joinParts, mergeParts, readParts } from './fetched-parts.ts';
import type { ReceivedTags } from './received-tags.ts';
import type { FoundResult, ManyFound, ResultStore } from './result-store.ts';
import { splitElements } from './split-elements.ts';

export interface CachedFetchOptions {
  readonly store: ResultStore;
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
    const { store, scope, fetch, send, resume } = this.#options;
    if (this.#parts.length > MAX_ENTITIES) {
      send(fetch, this.#done);
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
    const { count, report, fetch, send } = this.#options;
    if (!lookup || lookup.isHeld) {
      count('bypass', keys.length);
      send(fetch, this.#done);
      return;
    }
    report.wanted += keys.length;
    this.#found = lookup.found.map((each) => (each && isObjectText(each.bytes) ? each : undefined));
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

  /** What is made of kept parts may be cached no longer than these. */
  #noteHits(hits: number): void {
    const { count, fetch, tags } = this.#options;
    count('hit', hits);
    for (const each of this.#found) {
      if (!each) continue;
      fetch.context.fetchLog.restrictByAge(each.policy, each.ageMs);
      tags?.addKept(each);
    }
  }

  #fetch(keys: readonly string[], missing: readonly number[], version: number): void {
    const { fetch, bodyParts, send, store, scope } = this.#options;
    const isWhole = missing.length === keys.length;
    const keeper = new FetchKeeper({
      store,
      scope,
      fetchLog: fetch.context.fetchLog,
      version,
      keys: missing.map((i) => keys[i] as string),
    });
    const body = isWhole ? fetch.body : `${bodyParts.head}"representations":[${missing.map((i) => this.#parts[i]).join(',')}]}}`;
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
