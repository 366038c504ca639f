/** Has a WebSocket deliver a message that is too long cut off, instead of closing the connection. */
import type { Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { FrameLimit } from './frame-limit.ts';

/**
 * Limits the messages of a socket to `maxBytes`. To be called when the socket opens, before the first byte is read. Without the receiver that `ws` has
 * today, nothing is cut, and `maxPayload` of the socket decides.
 */
export function limitMessages(socket: WebSocket, maxBytes: number): FrameLimit {
  const limit = new FrameLimit(maxBytes);
  const { _receiver: receiver } = socket as unknown as { readonly _receiver?: Writable };
  if (!receiver) return limit;
  const write = receiver.write.bind(receiver) as (chunk: Buffer) => boolean;
  receiver.write = (chunk: Buffer) => {
    for (const passed of limit.pass(chunk)) write(passed);
    return !receiver.writableNeedDrain;
  };
  return limit;
}
