/** Responses on connections that Node no longer manages: those of a refused request or upgrade. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { runPaced } from '../process/paced.ts';
import { type HeaderList, mergeHeaders } from './response-headers.ts';

/** A whole response. */
export interface Message {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How long a refused client may take to close. A connection that is cut at once can lose the response (RFC 9112 §9.6). */
const LINGER_MS = 1000;

/** Returns the bytes of a response of HTTP/1.1, as text. `added` are the headers that every response has. */
export function toHttpMessage({ status, headers, body }: Message, added: HeaderList): string {
  const all = mergeHeaders(headers, added);
  let lines = '';
  for (let i = 0; i < all.length; i += 2) lines += `${String(all[i])}: ${String(all[i + 1])}\r\n`;
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n${lines}\r\n${body}`;
}

/**
 * Sends a message of HTTP/1.1 and closes the connection; cuts it when the client has not closed its side after {@link LINGER_MS}. `onSent` is
 * called when the message has been written.
 */
export function endBare(socket: Duplex, message: string, onSent?: () => void): void {
  socket.end(message, onSent);
  const cut = setTimeout(() => {
    runPaced(() => socket.destroy());
  }, LINGER_MS).unref();
  socket.once('close', () => {
    clearTimeout(cut);
  });
}
