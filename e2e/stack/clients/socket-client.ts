/** A client of graphql-transport-ws that sends messages of a test and records every message. */
import { WebSocket } from 'ws';

export interface SocketMessage {
  readonly id?: string;
  readonly type: string;
  readonly payload?: unknown;
}

export interface SocketClient {
  readonly socket: WebSocket;
  send(message: object | string): void;
  /** The next message that fits, in the order they came; what comes before it is passed over. Rejects when the socket closes before. */
  next(fits?: (message: SocketMessage) => boolean): Promise<SocketMessage>;
  /** Everything that came and was not asked for by `next`. */
  readonly waiting: readonly SocketMessage[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Closes and waits until it is. */
  close(): Promise<void>;
}

export interface SocketClientOptions {
  readonly protocol?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The payload of `connection_init`; null sends none and waits for nothing. */
  readonly init?: Readonly<Record<string, unknown>> | null;
}

/** Resolves when the connection is acknowledged, or open when there is no init. `url` is an http address. */
export async function openSocket(
  url: string,
  { protocol = 'graphql-transport-ws', headers = {}, init = {} }: SocketClientOptions = {},
): Promise<SocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, { headers });
  const waiting: SocketMessage[] = [];
  let wake: () => void = () => undefined;
  let isClosed = false;
  socket.on('message', (data: Buffer) => {
    waiting.push(JSON.parse(data.toString()) as SocketMessage);
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      isClosed = true;
      resolve({ code, reason: reason.toString() });
      wake();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  const client: SocketClient = {
    socket,
    waiting,
    closed,
    send(message) {
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    },
    async next(fits = () => true) {
      for (;;) {
        const at = waiting.findIndex(fits);
        if (at >= 0) return waiting.splice(0, at + 1).at(-1) as SocketMessage;
        if (isClosed) throw new Error(`The socket was closed: ${JSON.stringify(await closed)}`);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async close() {
      socket.close();
      await closed;
    },
  };
  if (init) {
    client.send({ type: 'connection_init', payload: init });
    await client.next(({ type }) => type === 'connection_ack');
  }
  return client;
}
