/** Keeps results in Redis, for all processes that use it. Redis bounds their bytes (`maxmemory`). */
import { RedisLink } from '@trestle/limits/redis-link';
import type { Log } from '@trestle/log';
import type { CachePolicy } from '../request/cache-policy.ts';
import { ALL_TAG } from './received-tags.ts';
import { FIND_SCRIPT, INVALIDATE_SCRIPT, PUT_SCRIPT } from './redis-store-scripts.ts';
import {
  type FoundResult,
  HOLD_MS,
  type Lookup,
  MAX_REMEMBERED_TAGS,
  MAX_RESULT_BYTES,
  type ManyFound,
  type ManyWanted,
  type ResultStore,
  type StoredResult,
  type Wanted,
} from './result-store.ts';

/** The key of the versions of tags. */
const VERSIONS = 'versions';
/** The key of tags that are held. */
const HELD = 'held';
/** What the script returns of each result, and before all results. */
const VALUES_PER_RESULT = 5;
const VALUES_BEFORE = 2;
/** How long to wait before an invalidation that failed is sent again. */
const RETRY_MS = 500;

const MESSAGES = {
  lost: 'Redis cannot be used: no results are cached until it can',
  found: 'Redis is used again: results are cached',
};

interface Scripts {
  findResultsBuffer(count: number, ...keysAndTags: readonly string[]): Promise<readonly (Buffer | number | null)[]>;
  putResult(result: string, ...values: readonly (string | Buffer)[]): Promise<number>;
  invalidateTags(versions: string, held: string, ...values: readonly string[]): Promise<number>;
}

/** An invalidation that Redis has not acknowledged. */
interface Unsent {
  /** That of the last invalidation of the tag. */
  readonly number: number;
  readonly isHeld: boolean;
}

export interface RedisStoreOptions {
  readonly url: string;
  readonly log: Log;
  /** Begins the name of every key. */
  readonly keyPrefix: string;
  /** How long Redis may take for a command, in milliseconds: no request waits longer. */
  readonly timeoutMs: number;
  /** How long tags are held, in milliseconds. Default: {@link HOLD_MS}. */
  readonly holdMs?: number;
}

export class RedisStore implements ResultStore {
  readonly #link: RedisLink<Scripts>;
  readonly #holdMs: number;
  /** By tag. Until Redis has acknowledged them, this process uses no results. */
  readonly #unsent = new Map<string, Unsent>();
  #invalidations = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor({ holdMs = HOLD_MS, ...options }: RedisStoreOptions) {
    this.#holdMs = holdMs;
    const scripts = {
      findResults: { lua: FIND_SCRIPT },
      putResult: { lua: PUT_SCRIPT, numberOfKeys: 1 },
      invalidateTags: { lua: INVALIDATE_SCRIPT, numberOfKeys: 2 },
    };
    this.#link = new RedisLink<Scripts>({ ...options, scripts, messages: MESSAGES });
  }

  /** Resolves when Redis can be used, or when it turned out that it cannot. */
  get settled(): Promise<void> {
    return this.#link.settled;
  }

  find({ key, tags }: Wanted, done: (lookup: Lookup | undefined) => void): void {
    this.findAll({ keys: [key], tags }, (lookup) => {
      done(lookup && { version: lookup.version, isHeld: lookup.isHeld, found: lookup.found[0] });
    });
  }

  findAll(wanted: ManyWanted, done: (lookup: ManyFound | undefined) => void): void {
    if (!this.#link.isUsed) done(undefined);
    else void this.#find(wanted).then(done);
  }

  /** Never rejects. */
  async #find({ keys, tags }: ManyWanted): Promise<ManyFound | undefined> {
    if (this.#unsent.size > 0 && !(await this.#send())) return undefined;
    const reply = await this.#link.run((client) => client.findResultsBuffer(keys.length + 2, VERSIONS, HELD, ...keys.map(toKey), ...tags));
    if (!reply) return undefined;
    const found = keys.map((_, i) => toFound(reply, VALUES_BEFORE + i * VALUES_PER_RESULT));
    return { version: Number(reply[0]), isHeld: reply[1] === 1, found };
  }

  put(key: string, { bytes, policy, tags, version, partsVersion, ageMs, keptMs }: StoredResult): boolean {
    if (bytes.length > MAX_RESULT_BYTES) return false;
    const times = [String(Math.ceil(ageMs)), String(keptMs)];
    const values = [String(version), bytes, JSON.stringify(policy), JSON.stringify(tags), ...times, String(partsVersion)];
    void this.#link.run((client) => client.putResult(toKey(key), ...values));
    return true;
  }

  invalidate(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#queue(tags, false);
    void this.#send().then(done);
  }

  hold(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#queue(tags, true);
    void this.#send().then(done);
  }

  #queue(tags: readonly string[], isHeld: boolean): void {
    const number = ++this.#invalidations;
    for (const tag of tags) this.#unsent.set(tag, { number, isHeld: isHeld || this.#unsent.get(tag)?.isHeld === true });
    if (this.#unsent.size <= MAX_REMEMBERED_TAGS) return;
    this.#unsent.clear();
    this.#unsent.set(ALL_TAG, { number, isHeld: false });
  }

  /** Sends the invalidations that Redis has not acknowledged, and resolves with whether it has now. A failure is tried again, also without requests. */
  async #send(): Promise<boolean> {
    const last = this.#invalidations;
    const [held, others] = [true, false].map((isHeld) => [...this.#unsent].flatMap(([tag, each]) => (each.isHeld === isHeld ? [tag] : [])));
    const values = [String(MAX_REMEMBERED_TAGS), String(this.#holdMs), String(held?.length), ...(held ?? []), ...(others ?? [])];
    const isSent = await this.#link.run((client) => client.invalidateTags(VERSIONS, HELD, ...values));
    if (isSent === undefined) {
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined;
        if (this.#unsent.size > 0) void this.#send();
      }, RETRY_MS).unref();
      return false;
    }
    for (const [tag, { number }] of this.#unsent) if (number <= last) this.#unsent.delete(tag);
    return true;
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#link.close();
  }
}

/** Returns undefined for what another program has written under the key. The script has checked the tags. Never throws. */
function toFound(reply: readonly (Buffer | number | null)[], at: number): FoundResult | undefined {
  const [bytes, policyText, ageText, tags, partsVersion] = reply.slice(at, at + VALUES_PER_RESULT);
  const [policy, ageMs] = [readPolicy(String(policyText)), Math.max(0, Number(ageText))];
  if (!(bytes instanceof Buffer) || !policy || !Number.isFinite(ageMs)) return undefined;
  return { bytes, policy, ageMs, tags: JSON.parse(String(tags)) as readonly string[], partsVersion: Number(partsVersion) };
}

/** Returns undefined for a string that is not the JSON of a policy. */
function readPolicy(text: string): CachePolicy | undefined {
  try {
    const { maxAge, sharedMaxAge, isPrivate } = JSON.parse(text) as Partial<Record<keyof CachePolicy, unknown>>;
    const isPolicy = typeof maxAge === 'number' && typeof sharedMaxAge === 'number' && typeof isPrivate === 'boolean';
    return isPolicy ? { maxAge, sharedMaxAge, isPrivate } : undefined;
  } catch {
    return undefined;
  }
}

function toKey(key: string): string {
  return `result:${key}`;
}
