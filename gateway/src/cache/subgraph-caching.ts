/** What of single subgraphs the response cache keeps, and for how long without a hint. No I/O. */
import { listFetches } from '../program/list-fetches.ts';
import type { Program } from '../program/program.ts';

/** The settings of one subgraph. */
export interface SubgraphCaching {
  /** Whether its results are kept. */
  readonly enabled: boolean;
  /** How long one of its fetches is kept that neither `@cacheControl` nor `Cache-Control` has a time for; 0 for not at all. */
  readonly ttlSeconds: number;
}

/** The settings of all subgraphs. */
export interface CachingSettings {
  readonly all: SubgraphCaching;
  /** What differs, by the subgraph's name in lower case. */
  readonly bySubgraph: ReadonlyMap<string, Partial<SubgraphCaching>>;
}

/** What holds without a setting. */
export const DEFAULT_CACHING: CachingSettings = { all: { enabled: true, ttlSeconds: 0 }, bySubgraph: new Map() };

/** The settings of all subgraphs, which may be replaced while the cache is used. */
export class CachedSubgraphs {
  #settings: CachingSettings = DEFAULT_CACHING;
  #isEveryEnabled = true;
  /** Whether all subgraphs of an operation are enabled, by its program. */
  #allowed = new WeakMap<Pick<Program, 'plan'>, boolean>();

  constructor(settings: CachingSettings = DEFAULT_CACHING) {
    this.use(settings);
  }

  /** Replaces the settings. What is kept stays so for its time, and is not used while its subgraph is disabled. */
  use(settings: CachingSettings): void {
    const { all, bySubgraph } = settings;
    this.#settings = settings;
    this.#isEveryEnabled = all.enabled && [...bySubgraph.values()].every(({ enabled }) => enabled !== false);
    this.#allowed = new WeakMap();
  }

  /** Returns the settings of a subgraph. */
  of(name: string): SubgraphCaching {
    const { all, bySubgraph } = this.#settings;
    return bySubgraph.size === 0 ? all : { ...all, ...bySubgraph.get(name.toLowerCase()) };
  }

  /** Returns whether the whole result of an operation may be kept: all subgraphs that its plan names are enabled. */
  allow(program: Pick<Program, 'plan'>): boolean {
    if (this.#isEveryEnabled) return true;
    let isAllowed = this.#allowed.get(program);
    if (isAllowed === undefined)
      this.#allowed.set(program, (isAllowed = listFetches(program.plan).every(({ service }) => this.of(service).enabled)));
    return isAllowed;
  }
}
