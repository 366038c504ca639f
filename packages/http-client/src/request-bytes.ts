/** Writes a request as one piece, so that it is sent by one write (RFC 9112 §3). No I/O. */
import { ClientError, type ClientRequest } from './upstream-client.ts';

/** A request as it is sent. ASCII bodies, which most are, need no transcoding: they are sent as latin1. */
export interface RequestBytes {
  readonly data: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
  readonly length: number;
}

/** Fields of one connection or of the framing: this client decides them (RFC 9110 §7.6.1). */
const NOT_ALLOWED: ReadonlySet<string> = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const NOT_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NOT_ASCII = /[\x80-\xff]/;

/**
 * Names that were checked, each with the value that was checked last: most requests repeat both. Their number is bounded: settings allow few names, and
 * longer values are not kept.
 */
const checkedNames = new Map<string, string>();
const MAX_CHECKED_NAMES = 1000;
const MAX_KEPT_LENGTH = 4096;

/** Returns the bytes of a POST. Throws INVALID_REQUEST for a header field that must not be sent. */
export function toRequestBytes(host: string, { path, headers, body }: ClientRequest): RequestBytes {
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    checkField(name, value);
    head += `${name}: ${value}\r\n`;
  }
  const bodyLength = Buffer.byteLength(body);
  head += `content-length: ${bodyLength}\r\n\r\n`;
  const length = head.length + bodyLength;
  if (bodyLength === body.length) return { data: head + body, encoding: 'latin1', length };
  if (!NOT_ASCII.test(head)) return { data: head + body, encoding: 'utf8', length };
  return { data: Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]), encoding: 'latin1', length };
}

/** Throws INVALID_REQUEST for a header field that must not be sent. */
export function checkField(name: string, value: string): void {
  if (checkedNames.get(name) === value) return;
  const isKnown = checkedNames.has(name);
  if (!isKnown && (!TOKEN.test(name) || NOT_ALLOWED.has(name.toLowerCase())))
    throw new ClientError('INVALID_REQUEST', `The header field ${JSON.stringify(name)} cannot be sent.`);
  if (NOT_A_VALUE.test(value)) throw new ClientError('INVALID_REQUEST', `The value of the header field ${name} cannot be sent.`);
  if ((isKnown || checkedNames.size < MAX_CHECKED_NAMES) && value.length <= MAX_KEPT_LENGTH) checkedNames.set(name, value);
}
