/** Redirects plain HTTP to HTTPS, never to a host that only the client names (contract §4, spec §9). */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasCredential } from '../messages/has-credential.ts';
import { endBare, toHttpMessage } from '../messages/bare-responses.ts';
import type { Reason } from '../http1/refusal-reasons.ts';
import { type RefusalOptions, createRefuser } from '../http1/refusals.ts';
import { toRequestId } from '../messages/request-id.ts';
import type { LateHeaders } from '../messages/response-headers.ts';

/** Answers requests of plain HTTP on a port with a certificate. */
export interface Redirect {
  /** Answers 308: the same method and body again (RFC 9110 §15.4.9). */
  readonly respond: (request: IncomingMessage, response: ServerResponse) => void;
  /** The same for a connection that Node no longer manages, such as one of a request for a WebSocket. */
  readonly respondBare: (request: IncomingMessage, socket: Duplex, headersFor: LateHeaders) => void;
}

/** Where requests are redirected to. */
export interface RedirectOptions extends RefusalOptions {
  /** The address by which clients know the service. */
  readonly publicUrl: string | undefined;
  /** Returns the current certificate as PEM. Without `publicUrl`, requests are redirected to the names of the certificate only. */
  readonly readCertificate: () => string | undefined;
}

const UNKNOWN_HOST: Reason = {
  code: 'VALIDATION_ERROR',
  message:
    'The port requires HTTPS, and Host is not a name of its certificate. Send the request to https:// and a name of the certificate.',
};

/** A redirect would let the client send its credential by plain HTTP again and again without noticing. */
const EXPOSED_CREDENTIAL: Reason = {
  code: 'FORBIDDEN',
  message:
    'The credential was sent by plain HTTP, where others can read it. Revoke it, and send requests with credentials to https:// addresses only.',
};

/** Returns handlers that redirect to the host of `publicUrl`. Without one they redirect to the value of `Host` if the certificate has that name, and answer 400 otherwise. */
export function createRedirect({ publicUrl, readCertificate, ...refusals }: RedirectOptions): Redirect {
  const readNames = createNameReader(readCertificate);
  const fixed = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  const refuser = createRefuser(refusals);
  const toHeaders = ({ headers, url }: IncomingMessage, location: string) => ({
    ...refusals.headersOf?.(url),
    'x-request-id': toRequestId(headers['x-request-id']),
    'cache-control': 'no-store',
    location,
    'content-length': '0',
    connection: 'close',
  });
  const find = (request: IncomingMessage): { location: string } | { refusal: ReturnType<typeof refuser> } => {
    if (hasCredential(request)) return { refusal: refuser(EXPOSED_CREDENTIAL, request) };
    const names = fixed === undefined ? readNames() : undefined;
    const host = fixed ?? (names && findHost(names, request.headers.host ?? ''));
    if (host === undefined) return { refusal: refuser(UNKNOWN_HOST, request) };
    const { url = '/' } = request;
    return { location: `https://${host}${url.startsWith('/') ? url : '/'}` };
  };
  return {
    respond(request, response) {
      const found = find(request);
      if ('location' in found) response.writeHead(308, toHeaders(request, found.location)).end();
      else response.writeHead(found.refusal.status, found.refusal.headers).end(request.method === 'HEAD' ? undefined : found.refusal.body);
    },
    respondBare(request, socket, headersFor) {
      const found = find(request);
      const message = 'location' in found ? { status: 308, headers: toHeaders(request, found.location), body: '' } : found.refusal;
      endBare(socket, toHttpMessage(message, headersFor(message.status)));
    },
  };
}

/** Returns a function that returns the current certificate, and parses it once. */
function createNameReader(readCertificate: () => string | undefined): () => X509Certificate | undefined {
  let pem: string | undefined;
  let parsed: X509Certificate | undefined;
  return () => {
    const current = readCertificate();
    if (current !== pem) [pem, parsed] = [current, current === undefined ? undefined : new X509Certificate(current)];
    return parsed;
  };
}

/** Returns the client's `Host` with its port when the certificate has that name; undefined otherwise. */
function findHost(certificate: X509Certificate, host: string): string | undefined {
  if (!URL.canParse(`https://${host}/`)) return undefined;
  const { hostname, host: whole } = new URL(`https://${host}/`);
  const bare = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare);
  return name === undefined ? undefined : whole;
}
