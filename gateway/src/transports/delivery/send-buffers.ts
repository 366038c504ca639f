/**
 * Bounds what waits to be sent to all clients of this process together, and finds clients that do not read. A client waits when its stream takes no
 * more for now; what its mailbox keeps and what its stream still holds are counted, bytes that several mailboxes share once.
 */

export interface SendBufferLimits {
  /** The most bytes that wait for all clients together. Beyond it the client that holds the most is cut. */
  readonly maxBytes: number;
  /** A client that has read nothing for so long, though bytes wait for it, is cut. */
  readonly stallTimeoutMs: number;
}

/** A client that has to read before more is sent to it. */
export interface Waiter {
  /** What its mailbox keeps, in bytes. */
  readonly keptBytes: number;
  /** What was written to its stream and not handed to the network yet, in bytes; it shrinks as the client reads. */
  readonly unsentBytes: number;
  /** Ends its connection without waiting for it. */
  cut(): void;
}

interface Progress {
  unsentBytes: number;
  /** When `unsentBytes` has shrunk last, by `performance.now()`. */
  at: number;
}

const SWEEP_MS = 250;
/** An entry of a mailbox besides its bytes: the object and its references. */
const ENTRY_BYTES = 100;

export class SendBuffers {
  readonly #limits: SendBufferLimits;
  readonly #waiters = new Map<Waiter, Progress>();
  /** How many mailboxes keep each of these. */
  readonly #bodies = new Map<Buffer, number>();
  #bytes = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(limits: SendBufferLimits) {
    this.#limits = limits;
  }

  /** What waits for all clients together. */
  get bytes(): number {
    return this.#bytes;
  }

  get clients(): number {
    return this.#waiters.size;
  }

  /** Takes a client that is waiting from now on. */
  enter(waiter: Waiter): void {
    if (this.#waiters.has(waiter)) return;
    const { unsentBytes } = waiter;
    this.#waiters.set(waiter, { unsentBytes, at: performance.now() });
    this.#sweeper ??= setInterval(() => {
      this.#sweep();
    }, SWEEP_MS).unref();
    this.#add(unsentBytes);
  }

  /** Its stream takes more again, or is closed. What its mailbox keeps is freed apart from this. */
  leave(waiter: Waiter): void {
    const progress = this.#waiters.get(waiter);
    if (!progress) return;
    this.#waiters.delete(waiter);
    this.#bytes -= progress.unsentBytes;
    if (this.#waiters.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Counts one message that a mailbox keeps; `ownBytes` are those that no other mailbox has. */
  hold(ownBytes: number, body: Buffer): void {
    const uses = this.#bodies.get(body) ?? 0;
    this.#bodies.set(body, uses + 1);
    this.#add(ENTRY_BYTES + ownBytes + (uses === 0 ? body.length : 0));
  }

  /** Takes back what {@link hold} counted. */
  free(ownBytes: number, body: Buffer): void {
    const uses = (this.#bodies.get(body) ?? 1) - 1;
    if (uses > 0) this.#bodies.set(body, uses);
    else this.#bodies.delete(body);
    this.#bytes -= ENTRY_BYTES + ownBytes + (uses === 0 ? body.length : 0);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#limits.maxBytes) {
      const largest = this.#findLargest();
      if (!largest) return;
      this.#cut(largest);
    }
  }

  #findLargest(): Waiter | undefined {
    let largest: Waiter | undefined;
    let most = -1;
    for (const [waiter, { unsentBytes }] of this.#waiters) {
      const bytes = waiter.keptBytes + unsentBytes;
      if (bytes > most) [largest, most] = [waiter, bytes];
    }
    return largest;
  }

  #cut(waiter: Waiter): void {
    this.leave(waiter);
    waiter.cut();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [waiter, progress] of this.#waiters) {
      const { unsentBytes } = waiter;
      if (unsentBytes < progress.unsentBytes || unsentBytes === 0) progress.at = now;
      this.#bytes += unsentBytes - progress.unsentBytes;
      progress.unsentBytes = unsentBytes;
      if (now - progress.at > this.#limits.stallTimeoutMs) this.#cut(waiter);
    }
  }
}
