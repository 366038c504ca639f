/** Writes one whole text message of a server as a WebSocket frame (RFC 6455 §5.2): not masked, not compressed, not fragmented. */
import type { Envelope } from '../delivery/send-queue.ts';

const FINAL_TEXT = 0x81;
const SHORT = 126;
const LONG = 127;

/** Returns the frame of a message of head, body and tail, in UTF-8, as one buffer for one write. */
export function toTextFrame({ head, tail }: Envelope, body: Buffer): Buffer {
  const length = head.length + body.length + tail.length;
  const lead = length < SHORT ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(lead + length);
  frame[0] = FINAL_TEXT;
  if (lead === 2) frame[1] = length;
  else if (lead === 4) {
    frame[1] = SHORT;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LONG;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  head.copy(frame, lead);
  body.copy(frame, lead + head.length);
  tail.copy(frame, lead + head.length + body.length);
  return frame;
}
