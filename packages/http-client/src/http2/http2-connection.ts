/** One connection by HTTP/2, which carries many requests at a time. */
import { type ClientHttp2Session, type Settings, connect } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type SocketTarget, openSocket } from '../open-socket.ts';
import type { ClientErrorCode } from '../upstream-client.ts';
import type { Http2Request } from './http2-request.ts';

/** What a connection reports to its client. */
export interface Http2ConnectionOwner {
  /** It can take requests again, or more of them. */
  onFree(connection: Http2Connection): void;
  /** It cannot take these requests: it was given them before it was open, or its server refuses them. */
  onReturned(requests: readonly Http2Request[]): void;
  /** It takes no further request and has none. */
  onClosed(connection: Http2Connection): void;
}

/** The most requests at a time, where the server allows more. */
const MAX_STREAMS = 100;
/** A response of this size needs no update of the window of its stream. Node.js asks for 64 KB. */
const WINDOW_BYTES = 1024 * 1024;
/** For all streams together: unread bytes that the server may send. */
const CONNECTION_WINDOW_BYTES = 8 * WINDOW_BYTES;

/** When a connection is given up. */
interface TimeLimits {
  /** Without a request. */
  readonly idleMs: number;
  /** With a request that the server has not answered for so long it is sent a PING. As long without any byte from it ends the connection. */
  readonly pingAfterMs: number;
}

/** One connection, from its opening to its end. */
export class Http2Connection {
  readonly #target: SocketTarget;
  readonly #owner: Http2ConnectionOwner;
  readonly #openBy: number;
  /** In the order in which they were sent. */
  readonly #requests = new Set<Http2Request>();
  #socket: Socket | undefined;
  #session: ClientHttp2Session | undefined;
  /** Whether the server has sent its settings, the first that it sends. Requests before could be more than it allows. */
  #isOpen = false;
  #maxStreams = MAX_STREAMS;
  /** The PING that has no answer yet: when it was sent, or a byte has arrived since. */
  #ping: { at: number; bytesRead: number } | undefined;
  #idleSince = 0;
  #isLeaving = false;
  #isClosed = false;

  /** `openBy` is the deadline for {@link open}, on the clock of `performance.now`. */
  constructor(target: SocketTarget, owner: Http2ConnectionOwner, openBy: number) {
    this.#target = target;
    this.#owner = owner;
    this.#openBy = openBy;
  }

  /** Opens the connection: by TLS with HTTP/2 alone, otherwise with prior knowledge (RFC 9113 §3.3). */
  open(origin: string): void {
    const { tls } = this.#target;
    this.#socket = openSocket(this.#target, 'h2')
      .once(tls ? 'secureConnect' : 'connect', () => {
        if (!tls || (this.#socket as TLSSocket).alpnProtocol === 'h2') this.#begin(origin);
        else this.fail('UNREACHABLE', 'The server offers no HTTP/2.');
      })
      .on('error', (error) => {
        this.#lose(error);
      })
      .once('close', () => {
        // The session reports what happens to its socket.
        if (!this.#session) this.#lose(undefined);
      })
      .setNoDelay(true);
  }

  /** How many requests it has. */
  get size(): number {
    return this.#requests.size;
  }

  /** Whether it takes another request. */
  get isFree(): boolean {
    return !this.#isLeaving && this.#requests.size < this.#maxStreams;
  }

  /** Sends a request: now, or when the connection is open. */
  send(request: Http2Request): void {
    this.#requests.add(request);
    request.onEnd = (isRefused) => {
      this.#requests.delete(request);
      this.#idleSince = performance.now();
      if (isRefused) this.#owner.onReturned([request]);
      if (!this.#isLeaving) this.#owner.onFree(this);
      else if (this.#requests.size === 0) this.#close();
    };
    if (this.#session && this.#isOpen) request.start(this.#session);
  }

  /** Fails what has taken too long: the opening, requests, or all of them when the server does not answer. Closes an idle connection. */
  checkTime(now: number, { idleMs, pingAfterMs }: TimeLimits): void {
    if (!this.#session || !this.#isOpen) {
      if (now > this.#openBy) this.fail('UNREACHABLE', 'The connection was not opened in time.');
      return;
    }
    for (const request of this.#requests) if (request.isOverdue(now)) request.fail('TIMEOUT', 'The response was not complete in time.');
    const [oldest] = this.#requests;
    if (this.#ping) {
      const bytesRead = this.#socket?.bytesRead ?? 0;
      if (bytesRead > this.#ping.bytesRead) this.#ping = { at: now, bytesRead };
      else if (now - this.#ping.at > pingAfterMs) this.fail('CONNECTION_LOST', 'The server does not answer.');
    } else if (!oldest) {
      if (now - this.#idleSince > idleMs) this.leave();
    } else if (now - oldest.sentAt > pingAfterMs && !this.#session.destroyed) this.#sendPing(this.#session, now);
  }

  /** Takes no further request, and is closed after the last one. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#requests.size === 0) this.#close();
  }

  /** Closes the connection, and fails its requests. */
  fail(code: ClientErrorCode, message: string, cause?: unknown): void {
    this.#isLeaving = true;
    for (const request of [...this.#requests]) request.fail(code, message, cause);
    this.#close();
  }

  /** Resolves when the socket is closed. */
  async closed(): Promise<void> {
    const socket = this.#socket;
    if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }

  #begin(origin: string): void {
    const settings: Settings = { enablePush: false, initialWindowSize: WINDOW_BYTES };
    const session = connect(origin, { createConnection: () => this.#socket as Socket, settings });
    this.#session = session;
    session
      .once('connect', () => {
        session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
      })
      .on('remoteSettings', ({ maxConcurrentStreams = MAX_STREAMS }: Settings) => {
        this.#settle(session, maxConcurrentStreams);
      })
      .once('goaway', () => {
        this.leave();
      })
      .on('error', (error: Error) => {
        this.#lose(error);
      })
      .once('close', () => {
        this.#lose(undefined);
      });
  }

  /** Takes over how many streams the server allows. When it allows none for now, one request waits there. */
  #settle(session: ClientHttp2Session, maxStreams: number): void {
    this.#maxStreams = Math.max(1, Math.min(maxStreams, MAX_STREAMS));
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#idleSince = performance.now();
      const [now, later] = [[...this.#requests].slice(0, this.#maxStreams), [...this.#requests].slice(this.#maxStreams)];
      for (const request of now) request.start(session);
      for (const request of later) this.#requests.delete(request);
      this.#owner.onReturned(later);
    }
    this.#owner.onFree(this);
  }

  #sendPing(session: ClientHttp2Session, now: number): void {
    this.#ping = { at: now, bytesRead: this.#socket?.bytesRead ?? 0 };
    session.ping((error) => {
      if (!error) this.#ping = undefined;
    });
  }

  #lose(cause: Error | undefined): void {
    if (this.#isOpen) this.fail('CONNECTION_LOST', 'The connection was closed before the response was complete.', cause);
    else this.fail('UNREACHABLE', 'The connection could not be opened.', cause);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session?.destroy();
    this.#socket?.destroy();
    this.#owner.onClosed(this);
  }
}
