/** Carries the messages of graphql-ws over a WebSocket: sends, looks after the peer, closes. Knows nothing of GraphQL. */
import type { Log } from '@trestle/log';
import { closeSocket } from '@trestle/service/close-socket';
import { CloseCode, MessageType } from 'graphql-ws';
import type { Server } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
const PING_MS = 12_000;
/** While more waits for a peer, its own messages wait as well: what it is answered can not grow with what it sends. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** A pong repeats the payload of a ping, which the protocol leaves to the server, up to this length. */
const MAX_ECHOED_CHARACTERS = 16 * 1024;
const PONG = JSON.stringify({ type: MessageType.Pong });
/** So much may wait for a peer that does not read. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** Serves a socket until it is closed. */
export function carry<Extra>(server: Server<Extra>, socket: WebSocket, { extra, log }: { extra: Extra; log: Log }): void {
  let isAlive = true;
  const pings = setInterval(() => {
    if (!isAlive) {
      socket.terminate();
      return;
    }
    isAlive = false;
    socket.ping();
  }, PING_MS);
  socket.on('pong', () => (isAlive = true));
  // Too large or ill-formed frames: ws has closed the socket with the right code already.
  socket.on('error', () => undefined);

  const send = (data: string) =>
    new Promise<void>((resolve, reject) => {
      if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
      if (socket.readyState !== socket.OPEN) resolve();
      else
        socket.send(data, (error) => {
          if (socket.isPaused && socket.bufferedAmount <= HIGH_WATER_BYTES) socket.resume();
          // Of a peer that has gone nobody needs to be told.
          if (error && socket.readyState === socket.OPEN) reject(error);
          else resolve();
        });
    });
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send,
      onPing: (payload) => {
        const pong = payload === undefined ? PONG : JSON.stringify({ type: MessageType.Pong, payload });
        return send(pong.length > MAX_ECHOED_CHARACTERS ? PONG : pong);
      },
      close: (code, reason) => {
        closeSocket(socket, code ?? NORMAL, reason ?? '');
      },
      onMessage: (receive) => {
        socket.on('message', (data: Buffer) => {
          if (socket.bufferedAmount > HIGH_WATER_BYTES) socket.pause();
          receive(data.toString()).catch((error: unknown) => {
            log.error('socket failed', { error });
            closeSocket(socket, CloseCode.InternalServerError, 'Internal server error');
          });
        });
      },
    },
    extra,
  );
  socket.once('close', (code, reason) => {
    clearInterval(pings);
    closed(code, reason.toString()).catch((error: unknown) => {
      log.error('socket failed', { error });
    });
  });
}
