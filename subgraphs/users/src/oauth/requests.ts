/** Reads and prepares the requests of the authorization server. */
import { IncomingMessage } from 'node:http';
import { encodeJwt } from './jwt-lookup.ts';

/** More than any form of this server needs. */
const MAX_FORM_BYTES = 32 * 1024;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:;|$)/i;

/** Thrown for a body that is no form, is too large, or has a character that PostgreSQL does not store. */
export class FormError extends Error {
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads the fields of a form. Throws a FormError when the body is no form, exceeds 32 KiB, or contains U+0000. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? ''))
    throw new FormError(415, 'The body must be a form: application/x-www-form-urlencoded.');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) throw new FormError(413, `The form exceeds the limit of ${String(MAX_FORM_BYTES)} bytes.`);
    chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  if ([...form.values()].some((value) => value.includes('\0'))) throw new FormError(400, 'The form must not contain U+0000.');
  return form;
}

/**
 * Makes the request look as it does at the issuer's own address, whatever the process in front sent: links, cookies and redirects of the
 * library follow it.
 */
export function setIssuer({ headers }: IncomingMessage, issuer: URL): void {
  for (const name of Object.keys(headers)) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) Reflect.deleteProperty(headers, name);
  }
  Object.assign(headers, { host: issuer.host, 'x-forwarded-host': issuer.host, 'x-forwarded-proto': issuer.protocol.slice(0, -1) });
}

/** Returns the same request with the access token of its form in the form that the library looks up. Throws a FormError. */
export async function withEncodedToken(request: IncomingMessage): Promise<IncomingMessage> {
  const form = await readForm(request);
  const tokens = form.getAll('token');
  form.delete('token');
  for (const token of tokens) form.append('token', encodeJwt(token));
  const body = Buffer.from(form.toString());
  const copy = new IncomingMessage(request.socket);
  const { method, url } = request;
  const headers = { ...request.headers, 'content-length': String(body.length), 'transfer-encoding': undefined };
  // An incomplete message would destroy the connection when it has been read.
  Object.assign(copy, { method, url, headers, complete: true });
  copy.push(body);
  copy.push(null);
  return copy;
}
