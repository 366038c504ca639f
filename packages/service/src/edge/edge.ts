/** How a process that the public reaches treats proxies and browsers: addresses, origins, CORS, and the headers of every response. */
import { type IsAllowedOrigin, type OriginRequest, createAllowedOrigin } from './allowed-origin.ts';
import { type Cors, type CorsOptions, createCors } from './cors.ts';
import { HSTS } from '../http1/refusals.ts';
import { type HeaderList, addHeaders } from '../messages/response-headers.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import type { TrustedProxies } from '../clients/trusted-proxies.ts';

/** The parts of a service that face the public. */
export interface Edge {
  readonly proxies: TrustedProxies;
  readonly cors: Cors;
  /** Whether the request names its own origin or a listed one; false without `Origin`. */
  readonly isAllowedOrigin: IsAllowedOrigin;
  /** Whether the client uses HTTPS, on this connection or as a trusted proxy reports it. */
  readonly isSecure: (request: OriginRequest) => boolean;
  /** Adds the headers that every response has. Called before anything can answer. */
  readonly prepare: (request: OriginRequest, response: object) => void;
}

/** Configures the public side of a service. */
export interface EdgeOptions extends Pick<CorsOptions, 'allowsCredentials' | 'maxAgeSeconds'> {
  readonly proxies: TrustedProxies;
  /** The addresses by which clients know the process. */
  readonly publicUrls: readonly (string | undefined)[];
  /** Origins of browsers, and patterns (origin-list.ts), besides those of the public addresses. */
  readonly origins: readonly string[];
  /** The methods of the process, for preflight requests. */
  readonly methods: readonly string[];
  /** Further request headers that browsers may send. */
  readonly requestHeaders?: readonly string[];
  /** Further response headers that scripts of their pages may read. */
  readonly responseHeaders?: readonly string[];
}

/** Creates the public side of a service. */
export function createEdge(options: EdgeOptions): Edge {
  const { proxies, publicUrls, origins } = options;
  const cors = createCors(options);
  const isSecureRequest: Edge['isSecure'] = (request) => request.socket.encrypted === true || proxies.protocolOf(request) === 'https';
  // Behind a proxy; on a connection of its own, `tls.ts` adds it.
  const withHsts: HeaderList = [...SECURITY_HEADERS, 'strict-transport-security', HSTS];
  // Lists are made once for each list of CORS headers, and live as long as it.
  const plain = new WeakMap<HeaderList, HeaderList>();
  const secure = new WeakMap<HeaderList, HeaderList>();
  return {
    proxies,
    cors,
    isAllowedOrigin: createAllowedOrigin({ publicUrls, origins, isSecure: isSecureRequest }),
    isSecure: isSecureRequest,
    prepare(request, response) {
      const own = cors.headersFor(request);
      const isHttps = proxies.protocolOf(request) === 'https';
      const lists = isHttps ? secure : plain;
      let all = lists.get(own);
      if (!all) {
        all = [...(isHttps ? withHsts : SECURITY_HEADERS), ...own];
        lists.set(own, all);
      }
      addHeaders(response, all);
    },
  };
}
