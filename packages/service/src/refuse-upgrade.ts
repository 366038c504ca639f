/** Answers requests for a WebSocket that is not opened. */
import type { Duplex } from 'node:stream';

/** Sends a response without a body, such as `503 Service Unavailable`, and closes the connection whether or not the client does. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  // A client that keeps its side open would else keep the connection (RFC 9112 §9.6).
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
