/** Raw connections to loopback: bytes out, bytes in, and nothing left open after an attack. */
import { type Socket, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Address {
  readonly host: string;
  readonly port: number;
  /** The certificate (PEM) to trust where the process speaks TLS. */
  readonly certificate?: string | undefined;
}

export interface ConnectOptions {
  /** Whether nothing that arrives is read. */
  readonly isUnread?: boolean;
  /** Protocols to negotiate over TLS, e.g. `h2`. */
  readonly protocols?: readonly string[];
}

export interface Connection {
  readonly socket: Socket;
  /** All that has arrived so far, up to {@link KEPT_BYTES}. */
  received(): Buffer;
  /** Resolves once the connection is closed, by whichever side. */
  readonly closed: Promise<void>;
  readonly isClosed: () => boolean;
  /** Resolves with true when `found` is true of what arrived, false after `ms` or when the connection is closed. */
  until(found: (received: Buffer) => boolean, ms: number): Promise<boolean>;
}

export interface Connections {
  /** Resolves when the connection is open. Rejects when it is refused. */
  open(address: Address, options?: ConnectOptions): Promise<Connection>;
  /** Registers something else that must be closed at the end. */
  keep(close: () => void): void;
  closeAll(): void;
}

const KEPT_BYTES = 32 * 1024 * 1024;
const CONNECT_MS = 10_000;

export function createConnections(): Connections {
  const closers = new Set<() => void>();
  return {
    async open(address, options = {}) {
      const connection = await open(address, options);
      const close = () => connection.socket.destroy();
      closers.add(close);
      void connection.closed.then(() => closers.delete(close));
      return connection;
    },
    keep: (close) => closers.add(close),
    closeAll() {
      for (const close of closers) close();
      closers.clear();
    },
  };
}

/** Resolves after `ms`; for attacks that hold something open for a time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function open({ host, port, certificate }: Address, { isUnread = false, protocols }: ConnectOptions): Promise<Connection> {
  const socket =
    certificate === undefined
      ? connect({ host, port })
      : connectTls({ host, port, ca: certificate, servername: 'localhost', ...(protocols && { ALPNProtocols: [...protocols] }) });
  let chunks: Buffer[] = [];
  let size = 0;
  let isClosed = false;
  const listeners = new Set<() => void>();
  const wake = () => {
    for (const listener of [...listeners]) listener();
  };
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once(certificate === undefined ? 'connect' : 'secureConnect', resolve);
    socket.once('error', reject);
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error(`No connection within ${CONNECT_MS} ms`)));
  });
  socket.setTimeout(0);
  // A reset is one of the answers that an attack may get.
  socket.on('error', () => undefined);
  if (isUnread) socket.pause();
  else
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= KEPT_BYTES) chunks.push(chunk);
      wake();
    });
  const received = () => {
    if (chunks.length > 1) chunks = [Buffer.concat(chunks)];
    return chunks[0] ?? Buffer.alloc(0);
  };
  const until = (found: (bytes: Buffer) => boolean, ms: number) =>
    new Promise<boolean>((resolve) => {
      const settle = (value: boolean) => {
        clearTimeout(timer);
        listeners.delete(look);
        resolve(value);
      };
      const look = () => {
        if (found(received())) settle(true);
        else if (isClosed) settle(false);
      };
      const timer = setTimeout(() => {
        settle(false);
      }, ms);
      listeners.add(look);
      look();
    });
  return { socket, received, closed, isClosed: () => isClosed, until };
}
