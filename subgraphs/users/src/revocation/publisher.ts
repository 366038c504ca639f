/** Publishes revoked tokens to the other processes: a WebSocket for each, on which it acknowledges what it has applied (ADR 10). */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Revocation, Revocations } from '@trestle/identity/revocations/revocations';
import { type WebSocket, WebSocketServer } from 'ws';

/** Long enough for a process whose machine is overloaded. A stopped one holds up revocations until its connection is terminated. */
const ACKNOWLEDGE_MS = 3000;
const PING_INTERVAL_MS = 5000;
const MAX_MESSAGE_BYTES = 100;

/** A process that is subscribed. */
interface Subscriber {
  /** The last number that it has acknowledged. */
  acknowledged: number;
  /** Whether it has responded since the last ping. */
  isAlive: boolean;
}

export interface PublisherOptions {
  readonly revocations: Pick<Revocations, 'add' | 'list' | 'subscribe'>;
  readonly pingIntervalMs?: number;
  /** How long a revocation waits for the acknowledgement of every process, in milliseconds. Default: 3000. */
  readonly acknowledgeMs?: number;
}

/** Publishes revocations by WebSocket: `{"number", "revoked"}`, first with all so far; a process acknowledges each message by its number. */
export class RevocationPublisher {
  readonly #revocations: PublisherOptions['revocations'];
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  readonly #subscribers = new Map<WebSocket, Subscriber>();
  /** Called after each acknowledgement and each lost connection. */
  readonly #checks = new Set<() => void>();
  readonly #acknowledgeMs: number;
  readonly #unsubscribe: () => void;
  readonly #pinger: NodeJS.Timeout;
  #number = 0;
  #isOpen = false;

  constructor({ revocations, pingIntervalMs = PING_INTERVAL_MS, acknowledgeMs = ACKNOWLEDGE_MS }: PublisherOptions) {
    this.#revocations = revocations;
    this.#acknowledgeMs = acknowledgeMs;
    this.#unsubscribe = revocations.subscribe((revocation) => {
      this.#number++;
      for (const socket of this.#subscribers.keys()) this.#send(socket, [revocation]);
    });
    this.#pinger = setInterval(() => {
      this.#ping();
    }, pingIntervalMs).unref();
  }

  /** Accepts connections from now on, because all revocations are known. Earlier connections are refused with 503. */
  open(): void {
    this.#isOpen = true;
  }

  /** Handles the upgrade of a connection. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!this.#isOpen) {
      // Otherwise a client that does not close its side would keep the connection.
      socket.once('finish', () => socket.destroy());
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      this.#subscribe(accepted);
    });
  }

  /** Publishes a revocation. Resolves when every subscribed process has acknowledged it, or after `acknowledgeMs`. */
  revoke(revocation: Revocation): Promise<void> {
    this.#revocations.add(revocation);
    const number = this.#number;
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const check = () => {
        if ([...this.#subscribers.values()].every(({ acknowledged }) => acknowledged >= number)) settle();
      };
      const timer = setTimeout(settle, this.#acknowledgeMs);
      this.#checks.add(check);
      check();
    });
  }

  /** Closes all connections. */
  stop(): void {
    this.#unsubscribe();
    clearInterval(this.#pinger);
    for (const socket of this.#subscribers.keys()) socket.terminate();
  }

  #subscribe(socket: WebSocket): void {
    const subscriber: Subscriber = { acknowledged: -1, isAlive: true };
    this.#subscribers.set(socket, subscriber);
    socket.on('pong', () => (subscriber.isAlive = true));
    socket.on('message', (data: Buffer) => {
      Object.assign(subscriber, { acknowledged: Number(data.toString()), isAlive: true });
      this.#check();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#subscribers.delete(socket);
      this.#check();
    });
    this.#send(socket, this.#revocations.list());
  }

  #send(socket: WebSocket, revoked: readonly Revocation[]): void {
    socket.send(JSON.stringify({ number: this.#number, revoked }));
  }

  #check(): void {
    for (const check of [...this.#checks]) check();
  }

  /** Terminates connections without a response since the last ping. The process reconnects and gets all revocations again. */
  #ping(): void {
    for (const [socket, subscriber] of this.#subscribers) {
      if (!subscriber.isAlive) socket.terminate();
      subscriber.isAlive = false;
      socket.ping();
    }
  }
}
