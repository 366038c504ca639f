/** Keeps results in Redis, for all processes that use it. Redis bounds their bytes (`maxmemory`). */
import { createHash } from 'node:crypto';
import { RedisLink } from '@trestle/limits/redis-link';
import type { Log } from '@trestle/log';
import { ALL_TAG } from './received-tags.ts';
import { FIND_SCRIPT, INVALIDATE_SCRIPT, PUT_SCRIPT } from './redis-store-scripts.ts';
import {
  type FoundResult,
  HOLD_MS,
  type KeptPolicy,
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
const VALUES_PER_RESULT = 6;
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
    const found = keys.map((key, i) => {
      const at = VALUES_BEFORE + i * VALUES_PER_RESULT;
      return toFound(key, reply.slice(at, at + VALUES_PER_RESULT));
    });
    return { version: Number(reply[0]), isHeld: reply[1] === 1, found };
  }

  put(key: string, { bytes, policy, tags, version, partsVersion, ageMs, keptMs }: StoredResult): boolean {
    if (bytes.length > MAX_RESULT_BYTES) return false;
    const times = [String(Math.ceil(ageMs)), String(keptMs)];
    const content = { bytes, policyText: JSON.stringify(policy), tagsText: JSON.stringify(tags) };
    const texts = [content.policyText, content.tagsText, ...times, String(partsVersion), toDigest(key, content)];
    void this.#link.run((client) => client.putResult(toKey(key), String(version), bytes, ...texts));
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

/** What Redis keeps of a result, as it was written. */
interface Content {
  readonly bytes: Buffer;
  readonly policyText: string;
  readonly tagsText: string;
}

/** Returns the digest by which a result is recognized that another program has changed, or stored under another key. To parse it would say less. */
function toDigest(key: string, { bytes, policyText, tagsText }: Content): string {
  const texts = JSON.stringify([key, policyText, tagsText]);
  return createHash('sha256').update(texts).update(bytes).digest('base64url');
}

/** Returns undefined for what another program has written under the key, and for what an earlier gateway has, without a digest. Never throws. */
function toFound(
  key: string,
  [bytes, policy, age, tags, partsVersion, digest]: readonly (Buffer | number | null)[],
): FoundResult | undefined {
  if (!(bytes instanceof Buffer)) return undefined;
  const content = { bytes, policyText: String(policy), tagsText: String(tags) };
  const ageMs = Math.max(0, Number(String(age)));
  if (String(digest) !== toDigest(key, content) || !Number.isFinite(ageMs)) return undefined;
  return {
    ...{ bytes, ageMs, partsVersion: Number(String(partsVersion)) },
    policy: JSON.parse(content.policyText) as KeptPolicy,
    tags: JSON.parse(content.tagsText) as readonly string[],
  };
}

function toKey(key: string): string {
  return `result:${key}`;
}
