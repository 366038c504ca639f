/** Answers requests for a WebSocket that is not opened. */
import type { Duplex } from 'node:stream';
import type { HeaderList } from '../messages/response-headers.ts';

/** What a refusal has beside its status. */
export interface UpgradeRefusal {
  readonly headers?: HeaderList;
  /** JSON; default: no body. */
  readonly body?: string | undefined;
}

/** Sends a response, such as `503 Service Unavailable`, and closes the connection whether or not the client does. */
export function refuseUpgrade(socket: Duplex, status: string, { headers = [], body = '' }: UpgradeRefusal = {}): void {
  socket.on('error', () => socket.destroy());
  // A client that keeps its side open would otherwise keep the connection (RFC 9112 §9.6).
  socket.once('finish', () => socket.destroy());
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i] ?? ''}: ${headers[i + 1] ?? ''}\r\n`;
  if (body !== '') lines += 'Content-Type: application/json; charset=utf-8\r\n';
  const length = String(Buffer.byteLength(body));
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: ${length}\r\n${lines}\r\n${body}`);
}
