/** Answers requests for a WebSocket that is not opened. */
import type { Duplex } from 'node:stream';
import { type Message, toHttpMessage } from '../messages/bare-responses.ts';
import type { HeaderList } from '../messages/response-headers.ts';

/** What a refusal has beside its status. */
export interface UpgradeRefusal extends Pick<Message, 'status'> {
  readonly headers?: Message['headers'];
  /** JSON; default: no body. */
  readonly body?: string | undefined;
}

/** Sends a response, and closes the connection whether or not the client does. `added` are the headers that every response has. */
export function refuseUpgrade(socket: Duplex, { status, headers = {}, body = '' }: UpgradeRefusal, added: HeaderList = []): void {
  socket.on('error', () => socket.destroy());
  // A client that keeps its side open would otherwise keep the connection (RFC 9112 §9.6).
  socket.once('finish', () => socket.destroy());
  const all = {
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
    ...(body !== '' && { 'Content-Type': 'application/json; charset=utf-8' }),
  };
  socket.end(toHttpMessage({ status, headers: all, body }, added));
}
