/** Closes WebSockets. A reason of any length and in any script is sent as far as it fits, and no close throws. */

/** The part of a `ws` socket that is needed to close it. */
export interface ClosableSocket {
  close(code: number, reason: string): void;
  terminate(): void;
}

/** A control frame carries 125 bytes, and the code takes two of them (RFC 6455 §5.5). */
const MAX_REASON_BYTES = 123;

/**
 * Starts the closing handshake. `reason` is cut to 123 bytes of UTF-8 at a character's border (RFC 6455 §5.5.1).
 * Terminates the connection when `code` cannot be sent. Never throws.
 */
export function closeSocket(socket: ClosableSocket, code: number, reason: string): void {
  try {
    socket.close(code, cutToBytes(reason, MAX_REASON_BYTES));
  } catch {
    socket.terminate();
  }
}

/** Returns the longest beginning of `text` that takes at most `maxBytes` bytes of UTF-8 and ends with a whole character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // Bytes 10xxxxxx continue a character (RFC 3629 §3).
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
