/** Carries the messages of graphql-ws over a WebSocket: sends, receives, pings the peer, closes. Knows nothing of GraphQL. */
import type { Log } from '@trestle/log';
import { closeSocket } from '@trestle/service/server/close-socket';
import { CloseCode, MessageType } from 'graphql-ws';
import type { Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { MessageTurns } from '@trestle/service/process/message-turns';

/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
const PING_MS = 12_000;
/** Above this, messages of the peer are not read, so that the responses to them cannot fill the memory. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** A pong repeats the payload of a ping, which the protocol leaves to the server, up to this length. */
const MAX_ECHOED_CHARACTERS = 16 * 1024;
const PONG = JSON.stringify({ type: MessageType.Pong });
/** The most that is buffered for a peer that does not read; above this its socket is terminated. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** The same for all peers together. */
const MAX_ALL_BUFFERED_BYTES = 64 * 1024 * 1024;

/** What a socket is served with. */
export interface TransportOptions<Extra> {
  /** What graphql-ws passes to its handlers. */
  readonly extra: Extra;
  readonly log: Log;
  readonly turns: MessageTurns;
  /** Returns whether so many operations of the socket wait that its messages must not be read. */
  readonly isFull: () => boolean;
  /** Returns the bytes that are buffered for the peers of all sockets. */
  readonly readBuffered: () => number;
}

/** Reads the messages of a paused socket again, unless its peer does not read or too many of its operations wait. */
export function resumeSocket(socket: WebSocket, isFull: () => boolean): void {
  if (socket.isPaused && socket.bufferedAmount <= HIGH_WATER_BYTES && !isFull()) socket.resume();
}

/** Serves a socket until it is closed. */
export function serveSocket<Extra>(server: Server<Extra>, socket: WebSocket, options: TransportOptions<Extra>): void {
  const { extra, log, turns, isFull } = options;
  const stopPings = startPings(socket);
  const fail = (error: unknown) => {
    log.error('socket failed', { error });
  };
  // Frames that are too large or malformed: ws has closed the socket with the right code already.
  socket.on('error', () => undefined);

  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (data) => send(socket, data, options),
      onPing: (payload) => send(socket, toPong(payload), options),
      close: (code, reason) => {
        closeSocket(socket, code ?? NORMAL, reason ?? '');
      },
      onMessage: (receive) => {
        const handle = (data: Buffer) => {
          receive(data.toString()).catch((error: unknown) => {
            if (isUnexpectedMessage(error)) {
              closeSocket(socket, CloseCode.BadRequest, 'Invalid message received');
              return;
            }
            fail(error);
            closeSocket(socket, CloseCode.InternalServerError, 'Internal server error');
          });
          if (socket.bufferedAmount > HIGH_WATER_BYTES || isFull()) socket.pause();
        };
        const resume = () => {
          resumeSocket(socket, isFull);
        };
        turns.serve(socket, { handle, resume });
      },
    },
    extra,
  );
  socket.once('close', (code, reason) => {
    stopPings();
    closed(code, reason.toString()).catch(fail);
  });
}

/** Returns whether the peer sent a message that only a server sends. graphql-ws throws a plain error for it, which is no fault of ours. */
function isUnexpectedMessage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type ');
}

/** Terminates the socket when the peer does not answer a ping before the next one. Returns how to stop. */
function startPings(socket: WebSocket): () => void {
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
  return () => {
    clearInterval(pings);
  };
}

/** A long payload is not written before its length is known: a flood of such pings would fill the memory with strings that are thrown away. */
function toPong(payload: unknown): string {
  if (payload === undefined) return PONG;
  let length = 0;
  try {
    return JSON.stringify({ type: MessageType.Pong, payload }, (key, value: unknown) => {
      length += key.length + (typeof value === 'string' ? value.length : 1);
      if (length > MAX_ECHOED_CHARACTERS) throw new RangeError('The payload is too long.');
      return value;
    });
  } catch {
    return PONG;
  }
}

type SendOptions = Pick<TransportOptions<unknown>, 'isFull' | 'readBuffered'>;

function send(socket: WebSocket, data: string, { isFull, readBuffered }: SendOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const isBehind = socket.bufferedAmount > HIGH_WATER_BYTES;
    if (isBehind && (socket.bufferedAmount > MAX_BUFFERED_BYTES || readBuffered() > MAX_ALL_BUFFERED_BYTES)) socket.terminate();
    if (socket.readyState !== socket.OPEN) {
      resolve();
      return;
    }
    socket.send(data, (error) => {
      resumeSocket(socket, isFull);
      // An error of a socket that is already closed needs no report.
      if (error && socket.readyState === socket.OPEN) reject(error);
      else resolve();
    });
  });
}
