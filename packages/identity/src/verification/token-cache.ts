/** The callers of tokens whose signature was verified before, bounded in count and bytes. No I/O. */
import type { Caller } from '../identity.ts';

const MAX_TOKENS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Keeps callers by token. The oldest entry makes room for a new one. */
export class TokenCache {
  readonly #callers = new Map<string, Caller>();
  #bytes = 0;

  get(token: string): Caller | undefined {
    return this.#callers.get(token);
  }

  set(token: string, caller: Caller): void {
    this.delete(token);
    this.#callers.set(token, caller);
    this.#bytes += token.length;
    for (const oldest of this.#callers.keys()) {
      if (this.#callers.size <= MAX_TOKENS && this.#bytes <= MAX_BYTES) break;
      this.delete(oldest);
    }
  }

  delete(token: string): void {
    if (this.#callers.delete(token)) this.#bytes -= token.length;
  }

  clear(): void {
    this.#callers.clear();
    this.#bytes = 0;
  }
}
