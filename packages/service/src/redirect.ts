/** Redirects plain HTTP to HTTPS, never to a host that only the client names (contract §4, spec §9). */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Door, type Reason, createRefuser, toHttpMessage } from './refusals.ts';

export interface Redirect {
  /** Answers 308: the same method and body again (RFC 9110 §15.4.9). */
  readonly respond: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers on a connection that Node has let go of, such as one that asks for a WebSocket. */
  readonly respondBare: (request: IncomingMessage, socket: Duplex) => void;
}

export interface RedirectOptions extends Pick<Door, 'log' | 'toRefusalAnswer'> {
  readonly publicUrl: string | undefined;
  /** PEM; its names are hosts that may be redirected to. */
  readonly certificate: string;
}

const UNKNOWN_HOST: Reason = {
  code: 'VALIDATION_ERROR',
  message: 'This port requires HTTPS, and Host is no name of its certificate. Send the request to https:// and a name of the certificate.',
};

/** Redirects to the host of `publicUrl`; without one, to the host that the client names if the certificate names it too, and is 400 otherwise. */
export function createRedirect({ publicUrl, certificate, ...door }: RedirectOptions): Redirect {
  const names = new X509Certificate(certificate);
  const fixed = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  const refuser = createRefuser(door);
  const find = (request: IncomingMessage): { location: string } | { refusal: ReturnType<typeof refuser> } => {
    const host = fixed ?? findHost(names, request.headers.host ?? '');
    if (host === undefined) return { refusal: refuser(UNKNOWN_HOST, { sentId: request.headers['x-request-id'], isSecure: false }) };
    // A proxy's form of the target names a host before the path.
    const path = /^(?:https?:\/\/[^/?#]*)?(\/.*)?$/i.exec(request.url ?? '/')?.[1] ?? '/';
    return { location: `https://${host}${path}` };
  };
  return {
    respond(request, response) {
      const found = find(request);
      if ('location' in found) response.writeHead(308, { location: found.location, 'content-length': '0', connection: 'close' }).end();
      else response.writeHead(found.refusal.status, found.refusal.headers).end(request.method === 'HEAD' ? undefined : found.refusal.body);
    },
    respondBare(request, socket) {
      const found = find(request);
      if ('location' in found)
        socket.end(
          toHttpMessage({ status: 308, headers: { Location: found.location, 'Content-Length': '0', Connection: 'close' }, body: '' }),
        );
      else socket.end(toHttpMessage(found.refusal));
    },
  };
}

/** Returns the client's `Host`, port and all, when the certificate has that name. */
function findHost(certificate: X509Certificate, host: string): string | undefined {
  if (!URL.canParse(`https://${host}/`)) return undefined;
  const { hostname, host: whole } = new URL(`https://${host}/`);
  const bare = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare);
  return name === undefined ? undefined : whole;
}
