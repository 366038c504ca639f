/** Responds to the ping frames of a client (RFC 6455 §5.5.2). */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';

/**
 * Sends a pong for each ping of a client that reads, and for the latest ping of a client that does not (§5.5.3), so that pongs do not accumulate.
 * `stream` is what the socket writes to; the socket must have `autoPong: false`.
 */
export function answerPings(socket: WebSocket, stream: Duplex): void {
  let latest: Buffer | undefined;
  const sendPong = () => {
    const payload = latest;
    latest = undefined;
    if (socket.readyState === WebSocket.OPEN) socket.pong(payload);
  };
  socket.on('ping', (payload: Buffer) => {
    const isWaiting = latest !== undefined;
    latest = payload;
    if (isWaiting) return;
    if (stream.writableNeedDrain) stream.once('drain', sendPong);
    else sendPong();
  });
}
