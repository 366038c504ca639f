/** The public addresses of the bridge and the gateway: from the settings, else from the request. No I/O. */
import type { IncomingMessage } from 'node:http';

/** The settings that name addresses. */
export interface AddressSettings {
  /** `PUBLIC_URL`: the address at which clients reach the bridge. Without it, the `Host` header of each request is used. */
  readonly publicUrl?: string | undefined;
  /** `PUBLIC_GATEWAY_URL`: the address at which browsers reach the gateway. */
  readonly publicGatewayUrl?: string | undefined;
  /** `PUBLIC_REGISTRY_URL`: the address at which browsers reach the registry's API. */
  readonly publicRegistryUrl?: string | undefined;
  /** `GATEWAY_URL`: the address at which the bridge reaches the gateway. */
  readonly gatewayUrl?: string | undefined;
  /** Returns whether the client uses HTTPS, as the connection or a trusted proxy says. Default: it never does. */
  readonly isSecure?: (request: IncomingMessage) => boolean;
}

/** Returns public addresses for a request. */
export interface Addresses {
  /** The bridge's address without a trailing slash, such as `https://api.example.com`; empty when neither `PUBLIC_URL` nor `Host` is valid. */
  bridge(request: IncomingMessage): string;
  /** The gateway's address for browsers; undefined when the gateway runs on another host and `PUBLIC_GATEWAY_URL` is not set. */
  gateway(request: IncomingMessage): string | undefined;
  /** The address of the registry's API for browsers; undefined when it is not set: it need not be public. */
  readonly registry: string | undefined;
}

/** A host name or IP address with an optional port (RFC 9110 §7.2). Other values could inject a path or a query into a URL. */
const HOST = /^(?:[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Creates the lookup of public addresses. */
export function createAddresses(settings: AddressSettings): Addresses {
  const { publicUrl, publicGatewayUrl, publicRegistryUrl, gatewayUrl, isSecure = () => false } = settings;
  const fixed = publicUrl === undefined ? undefined : withoutTrailingSlash(publicUrl);
  const upstream = gatewayUrl === undefined ? undefined : new URL(gatewayUrl);
  const bridge = (request: IncomingMessage) => fixed ?? addressOf(request, isSecure(request)) ?? '';
  return {
    bridge,
    registry: publicRegistryUrl,
    gateway(request) {
      if (publicGatewayUrl !== undefined) return publicGatewayUrl;
      const own = bridge(request);
      // A gateway on the same host is reachable under the host name that the client used for the bridge.
      if (own === '' || !upstream || !LOOPBACK.test(upstream.hostname)) return undefined;
      const port = upstream.port === '' ? '' : `:${upstream.port}`;
      return `${upstream.protocol}//${new URL(own).hostname}${port}${upstream.pathname}`;
    },
  };
}

function addressOf({ headers }: IncomingMessage, isSecure: boolean): string | undefined {
  const { host } = headers;
  if (host === undefined || !HOST.test(host)) return undefined;
  const address = `${isSecure ? 'https' : 'http'}://${host.toLowerCase()}`;
  return URL.canParse(address) ? address : undefined;
}

function withoutTrailingSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
