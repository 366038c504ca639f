/** Opens the sockets of connections to one server: by TCP, by TLS or to a Unix domain socket. */
import { type OnReadOpts, type Socket, connect, isIP } from 'node:net';
import { type ConnectionOptions, type SecureContext, connect as connectTls } from 'node:tls';
import type { CheckServerIdentity, ReadTls } from './upstream-client.ts';

/** How a server is reached, beside its origin. */
export interface SocketOptions {
  /** The file of a Unix domain socket, to which connections are opened in place of the origin. */
  readonly socketPath?: string | undefined;
  /** Called for each connection that is opened by TLS. Default: none of its own. */
  readonly tls?: ReadTls;
  readonly checkServerIdentity?: CheckServerIdentity;
}

/** A server. */
export interface SocketTarget {
  readonly hostname: string;
  readonly port: number;
  /** The file of a Unix domain socket, in place of host and port; undefined for TCP. */
  readonly socketPath: string | undefined;
  /** Undefined for connections without TLS. */
  readonly tls: TlsTarget | undefined;
}

/** How a connection by TLS is made. */
interface TlsTarget {
  readonly read: ReadTls;
  readonly options: Pick<ConnectionOptions, 'checkServerIdentity'>;
  /** The context of the last connection. */
  context: SecureContext | undefined;
  /** The last session with that context, which makes the next handshake shorter. */
  session: Buffer | undefined;
}

/** Returns the server of an origin, such as `https://orders.example:4443`. */
export function toSocketTarget(
  origin: string,
  { socketPath, tls: read = () => undefined, checkServerIdentity }: SocketOptions,
): SocketTarget {
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === 'https:';
  return {
    // An IPv6 address stands in brackets.
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    socketPath,
    tls: isTls ? { read, options: checkServerIdentity ? { checkServerIdentity } : {}, context: undefined, session: undefined } : undefined,
  };
}

/**
 * Opens a socket. By TLS it offers `protocol` alone (ALPN, RFC 7301). Emits `connect`, or `secureConnect` where the target has TLS; or `error` and
 * `close`. With `onread` Node.js reads into its buffer.
 */
export function openSocket({ hostname, port, socketPath, tls }: SocketTarget, protocol: 'http/1.1' | 'h2', onread?: OnReadOpts): Socket {
  const reading = onread && { onread };
  if (socketPath !== undefined) return connect({ path: socketPath, ...reading });
  if (!tls) return connect({ host: hostname, port, ...reading });
  // A name is needed to choose the certificate; an address is not allowed as one (RFC 6066 §3).
  const servername = isIP(hostname) === 0 ? hostname : '';
  const secureContext = tls.read();
  // A session was verified with the certificates of its context; others need a handshake of their own.
  if (secureContext !== tls.context) [tls.context, tls.session] = [secureContext, undefined];
  const { session } = tls;
  const options = { ...tls.options, host: hostname, port, servername, ALPNProtocols: [protocol], ...reading, session, secureContext };
  // The types of Node.js lack `onread` here.
  const socket = connectTls(options as ConnectionOptions);
  return socket.on('session', (next) => {
    if (secureContext === tls.context) tls.session = next;
  });
}
