/** Under which addresses clients reach the bridge and the gateway: from the settings, else from the request. No I/O. */
import type { IncomingMessage } from 'node:http';

export interface AddressSettings {
  /** `PUBLIC_URL`: where clients find the bridge. Absent, each request tells by its `Host`. */
  readonly publicUrl?: string | undefined;
  /** `PUBLIC_GATEWAY_URL`: where browsers find GraphQL. */
  readonly publicGatewayUrl?: string | undefined;
  /** `GATEWAY_URL`: where the bridge itself finds it. */
  readonly gatewayUrl?: string | undefined;
}

export interface Addresses {
  /** The bridge's address without a slash at the end, such as `https://api.example.com`; empty when neither setting nor `Host` tells. */
  bridge(request: IncomingMessage): string;
  /** GraphQL's address for browsers; undefined when the gateway is on another machine and no setting tells its public address. */
  gateway(request: IncomingMessage): string | undefined;
}

/** A name or an address with an optional port (RFC 9110 §7.2); anything else could break out of a URL. */
const HOST = /^(?:[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

export function createAddresses({ publicUrl, publicGatewayUrl, gatewayUrl }: AddressSettings): Addresses {
  const fixed = publicUrl === undefined ? undefined : withoutSlash(publicUrl);
  const neighbour = gatewayUrl === undefined ? undefined : new URL(gatewayUrl);
  const bridge = (request: IncomingMessage) => fixed ?? addressOf(request) ?? '';
  return {
    bridge,
    gateway(request) {
      if (publicGatewayUrl !== undefined) return publicGatewayUrl;
      const own = bridge(request);
      // A gateway on this machine is reached by the name under which the bridge was.
      if (own === '' || !neighbour || !LOOPBACK.test(neighbour.hostname)) return undefined;
      const port = neighbour.port === '' ? '' : `:${neighbour.port}`;
      return `${neighbour.protocol}//${new URL(own).hostname}${port}${neighbour.pathname}`;
    },
  };
}

function addressOf({ headers, socket }: IncomingMessage): string | undefined {
  const { host } = headers;
  if (host === undefined || !HOST.test(host)) return undefined;
  const address = `${(socket as { readonly encrypted?: boolean }).encrypted === true ? 'https' : 'http'}://${host.toLowerCase()}`;
  return URL.canParse(address) ? address : undefined;
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
