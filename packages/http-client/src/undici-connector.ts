/** How undici opens connections to a server whose certificates may change while the process runs. */
import type { SecureContext } from 'node:tls';
import type { buildConnector as UndiciConnector } from 'undici';
import type { CheckServerIdentity, ReadTls } from './upstream-client.ts';
import { buildConnector } from './undici.ts';

/** The limits and certificates of connections. */
export interface ConnectorOptions {
  readonly connectTimeoutMs: number;
  /** The file of a Unix domain socket, to which connections are opened in place of the origin. */
  readonly socketPath?: string | undefined;
  /** Called for each connection that is opened by TLS. Default: none of its own. */
  readonly tls?: ReadTls;
  readonly checkServerIdentity?: CheckServerIdentity;
  /** Whether HTTP/2 is used with servers that offer it in their TLS handshake. Default true. */
  readonly allowsHttp2?: boolean;
}

/** Returns what opens connections. Each context has a connector of its own, because a connector resumes the sessions of its connections. */
export function createConnector({ tls = () => undefined, ...options }: ConnectorOptions): UndiciConnector.connector {
  const { connectTimeoutMs: timeout, socketPath, checkServerIdentity, allowsHttp2 = true } = options;
  const shared = {
    timeout,
    allowH2: allowsHttp2,
    ...(socketPath !== undefined && { socketPath }),
    ...(checkServerIdentity && { checkServerIdentity }),
  };
  const connectorOf = (secureContext: SecureContext | undefined) => buildConnector({ ...shared, ...(secureContext && { secureContext }) });
  let context = tls();
  let connector = connectorOf(context);
  return (target, callback) => {
    const current = tls();
    if (current !== context) [context, connector] = [current, connectorOf(current)];
    connector(target, callback);
  };
}
