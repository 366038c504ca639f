/**
 * When the messages of sockets are handled. To read a megabyte of JSON takes milliseconds: a process handles one large message in each iteration of its
 * event loop, whatever the number of sockets, so that other requests wait for one only.
 */
import type { WebSocket } from 'ws';
import { IterationTurns } from './iteration-turns.ts';

/** Longer messages wait for their turn. */
const LARGE_BYTES = 16 * 1024;

/** What becomes of the messages of a socket. */
export interface Receiver {
  readonly handle: (data: Buffer, isBinary: boolean) => void;
  /** Called when no message waits any more: reads the socket again. */
  readonly resume: () => void;
}

/** The turns of a process. */
export class MessageTurns {
  readonly #turns = new IterationTurns();

  /** Handles the messages of a socket in their order. The socket is not read while one of them waits. */
  serve(socket: WebSocket, { handle, resume }: Receiver): void {
    let waiting = 0;
    socket.on('message', (data: Buffer, isBinary) => {
      if (waiting === 0 && data.length <= LARGE_BYTES) {
        handle(data, isBinary);
        return;
      }
      waiting++;
      socket.pause();
      this.#turns.take(() => {
        waiting--;
        if (socket.readyState !== socket.OPEN) return;
        handle(data, isBinary);
        if (waiting === 0) resume();
      });
    });
  }
}
