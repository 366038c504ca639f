/** Answers requests for a WebSocket that is not opened. */
import type { Duplex } from 'node:stream';
import type { HeaderList } from '../messages/response-headers.ts';

/** Sends a response without a body, such as `503 Service Unavailable`, and closes the connection whether or not the client does. */
export function refuseUpgrade(socket: Duplex, status: string, headers: HeaderList = []): void {
  socket.on('error', () => socket.destroy());
  // A client that keeps its side open would otherwise keep the connection (RFC 9112 §9.6).
  socket.once('finish', () => socket.destroy());
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i] ?? ''}: ${headers[i + 1] ?? ''}\r\n`;
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n${lines}\r\n`);
}
