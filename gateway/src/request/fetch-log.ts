/** What the fetches of one operation report beside their results, for response headers. */
import { type Caller, hasRole } from '@trestle/identity';
import { type CacheFields, type CachePolicy, NO_STORE, readCachePolicy, toStrictest } from './cache-policy.ts';

/** Response headers by their names in lower case; a header that is sent several times has several values. */
export type ReportedHeaders = Readonly<Record<string, string | string[]>>;

const NO_HEADERS: ReportedHeaders = {};
/** The most values that one operation passes on, whatever its subgraphs send, and their characters. Clients limit the head of a response to 16 KiB. */
const MAX_FORWARDED = 20;
const MAX_FORWARDED_CHARACTERS = 8192;

export class FetchLog {
  readonly #durationsMs: (readonly [subgraph: string, milliseconds: number])[] = [];
  #isReplayed = false;
  #forwarded: Record<string, string[]> | undefined;
  #forwardedCount = 0;
  #forwardedCharacters = 0;
  #policy: CachePolicy | undefined;
  /** Responses whose policy is in {@link #policy}. */
  #policies = 0;
  /** Whether results came from a cache of the gateway. */
  #hasKept = false;

  /** Adds how long one fetch took. */
  add(subgraph: string, milliseconds: number): void {
    this.#durationsMs.push([subgraph, milliseconds]);
  }

  /** Notes that a subgraph replayed the result of an earlier request with the same Idempotency-Key (spec §8). */
  markReplayed(): void {
    this.#isReplayed = true;
  }

  /** Adds a response header that goes back to the client. Values beyond 20, and those beyond 8,192 characters together, are dropped. */
  forward(name: string, values: string | readonly string[]): void {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (this.#forwardedCount++ >= MAX_FORWARDED) return;
      if (this.#forwardedCharacters + value.length > MAX_FORWARDED_CHARACTERS) continue;
      this.#forwardedCharacters += value.length;
      this.#forwarded ??= {};
      (this.#forwarded[name] ??= []).push(value);
    }
  }

  /** Adds the `Cache-Control` of one response; without one this response says nothing about caching. */
  restrictCaching(cacheControl: string | undefined, fields: Pick<CacheFields, 'age' | 'vary'>): void {
    if (cacheControl === undefined) return;
    this.#restrict(readCachePolicy({ cacheControl, ...fields }));
    this.#policies++;
  }

  /** Adds the policy of a result that a cache of the gateway had, of this age in milliseconds. */
  restrictByAge({ maxAge, sharedMaxAge, isPrivate }: CachePolicy, ageMs: number): void {
    const rest = (seconds: number) => Math.max(0, Math.floor(seconds - ageMs / 1000));
    this.#restrict({ maxAge: rest(maxAge), sharedMaxAge: rest(sharedMaxAge), isPrivate });
    this.#hasKept = true;
  }

  /** Takes over what the fetches of an equal operation have reported, except headers that go back to the client. */
  adopt(other: FetchLog): void {
    // The operations of a batch have one log, which may have the fetches of others of them already.
    if (other === this) return;
    for (const each of other.#durationsMs) this.#durationsMs.push(each);
    if (other.#policy) this.#restrict(other.#policy);
    this.#policies += other.#policies;
    this.#hasKept ||= other.#hasKept;
  }

  /** Returns the strictest policy of all responses; undefined when a fetch has none, or a result came from a cache. */
  get cachePolicy(): CachePolicy | undefined {
    return !this.#hasKept && this.#policies === this.#durationsMs.length ? this.restriction : undefined;
  }

  /** Returns the strictest policy of those responses that have one, which forbids to cache a result that sets a cookie; undefined when none has one. */
  get restriction(): CachePolicy | undefined {
    return this.#forwarded?.['set-cookie'] === undefined ? this.#policy : NO_STORE;
  }

  /** Whether headers of subgraphs go back to the client. */
  get hasForwarded(): boolean {
    return this.#forwarded !== undefined;
  }

  /** Returns the forwarded headers, `Idempotent-Replayed` for every caller, and `Server-Timing` for administrators only: durations reveal what is inside. */
  toHeaders(caller: Caller | null): ReportedHeaders {
    const timings = hasRole(caller, 'ADMIN') ? Array.from(this.#sum(), ([name, duration]) => `${name};dur=${duration.toFixed(1)}`) : [];
    if (!this.#isReplayed && timings.length === 0) return this.#forwarded ?? NO_HEADERS;
    return {
      ...this.#forwarded,
      ...(this.#isReplayed && { 'idempotent-replayed': 'true' }),
      ...(timings.length > 0 && { 'server-timing': timings.join(', ') }),
    };
  }

  #restrict(policy: CachePolicy): void {
    this.#policy = this.#policy ? toStrictest(this.#policy, policy) : policy;
  }

  #sum(): Map<string, number> {
    const sums = new Map<string, number>();
    for (const [name, duration] of this.#durationsMs) sums.set(name, (sums.get(name) ?? 0) + duration);
    return sums;
  }
}
