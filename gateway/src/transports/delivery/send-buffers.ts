/**
 * Bounds the bytes that wait for all clients of this process together, and disconnects clients that do not read. A client waits while its stream
 * accepts no more data. The bytes in its queue and in its stream count; bytes that several queues share count once.
 */

export interface SendBufferLimits {
  /** The most bytes that wait for all clients together. Beyond it the client with the most bytes is disconnected. */
  readonly maxBytes: number;
  /** A client that reads nothing for this long, while bytes wait for it, is disconnected. */
  readonly stallTimeoutMs: number;
}

/** A client whose stream accepts no more data for now. */
export interface WaitingClient {
  readonly queuedBytes: number;
  /** Bytes in its stream that the network has not accepted; the number shrinks as the client reads. */
  readonly unsentBytes: number;
  /** Destroys its connection. */
  disconnect(): void;
}

interface Progress {
  unsentBytes: number;
  /** When `unsentBytes` shrank last, by `performance.now()`. */
  at: number;
}

const SWEEP_MS = 250;
/** A queued message besides its bytes: the object and its references. */
const ENTRY_BYTES = 100;

export class SendBuffers {
  readonly #limits: SendBufferLimits;
  readonly #waiting = new Map<WaitingClient, Progress>();
  /** In how many queues each body is. */
  readonly #bodies = new Map<Buffer, number>();
  #bytes = 0;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(limits: SendBufferLimits) {
    this.#limits = limits;
  }

  /** The bytes that wait for all clients together. */
  get bytes(): number {
    return this.#bytes;
  }

  get clients(): number {
    return this.#waiting.size;
  }

  /** Adds a client that waits from now on. */
  add(client: WaitingClient): void {
    if (this.#waiting.has(client)) return;
    const { unsentBytes } = client;
    this.#waiting.set(client, { unsentBytes, at: performance.now() });
    this.#sweeper ??= setInterval(() => {
      this.#sweep();
    }, SWEEP_MS).unref();
    this.#count(unsentBytes);
  }

  /** Removes a client whose stream accepts data again, or is closed. Does not release the messages of its queue: the queue calls {@link release}. */
  remove(client: WaitingClient): void {
    const progress = this.#waiting.get(client);
    if (!progress) return;
    this.#waiting.delete(client);
    this.#bytes -= progress.unsentBytes;
    if (this.#waiting.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Counts one message that a queue keeps; `ownBytes` are those that no other queue shares. May disconnect any client. */
  retain(ownBytes: number, body: Buffer): void {
    const uses = this.#bodies.get(body) ?? 0;
    this.#bodies.set(body, uses + 1);
    this.#count(ENTRY_BYTES + ownBytes + (uses === 0 ? body.length : 0));
  }

  /** Reverses {@link retain}. */
  release(ownBytes: number, body: Buffer): void {
    const uses = (this.#bodies.get(body) ?? 1) - 1;
    if (uses > 0) this.#bodies.set(body, uses);
    else this.#bodies.delete(body);
    this.#bytes -= ENTRY_BYTES + ownBytes + (uses === 0 ? body.length : 0);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#limits.maxBytes) {
      const largest = this.#findLargest();
      if (!largest) return;
      this.#disconnect(largest);
    }
  }

  #findLargest(): WaitingClient | undefined {
    let largest: WaitingClient | undefined;
    let most = -1;
    for (const [client, { unsentBytes }] of this.#waiting) {
      const bytes = client.queuedBytes + unsentBytes;
      if (bytes > most) [largest, most] = [client, bytes];
    }
    return largest;
  }

  #disconnect(client: WaitingClient): void {
    this.remove(client);
    client.disconnect();
  }

  #sweep(): void {
    const now = performance.now();
    for (const [client, progress] of this.#waiting) {
      const { unsentBytes } = client;
      if (unsentBytes < progress.unsentBytes || unsentBytes === 0) progress.at = now;
      this.#bytes += unsentBytes - progress.unsentBytes;
      progress.unsentBytes = unsentBytes;
      if (now - progress.at > this.#limits.stallTimeoutMs) this.#disconnect(client);
    }
  }
}
