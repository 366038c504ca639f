/** Bounds the open connections of one address: that of the peer, which may be a proxy. */
import type { Socket } from 'node:net';

/** Counts open connections by address. */
export interface ConnectionCount {
  /** Counts the connection until it closes. Returns false, and counts nothing, when its address has reached the limit. */
  admit(socket: Socket): boolean;
}

/** Creates a count with a limit of open connections for each address; IPv6 addresses of one /64 network count as one. */
export function createConnectionCount(maxPerAddress: number): ConnectionCount {
  const counts = new Map<string, number>();
  return {
    admit(socket) {
      const address = toNetwork(socket.remoteAddress ?? '');
      const count = counts.get(address) ?? 0;
      if (count >= maxPerAddress) return false;
      counts.set(address, count + 1);
      socket.once('close', () => {
        const rest = (counts.get(address) ?? 1) - 1;
        if (rest === 0) counts.delete(address);
        else counts.set(address, rest);
      });
      return true;
    },
  };
}

/** Returns the IPv4 address, or the /64 network of an IPv6 address: one subscriber has that many addresses (RFC 6177). */
export function toNetwork(address: string): string {
  const parsed = parseAddress(address);
  return typeof parsed === 'string' ? parsed : `${parsed.slice(0, 4).join(':')}::/64`;
}

/** Returns the network of an address that may be shown to people: the /24 network of an IPv4 address, the /48 network of an IPv6 address. */
export function toPublishedNetwork(address: string): string {
  const parsed = parseAddress(address);
  if (typeof parsed !== 'string') return `${parsed.slice(0, 3).join(':')}::/48`;
  return parsed === '' ? '' : `${parsed.split('.').slice(0, 3).join('.')}.0/24`;
}

/** Returns an IPv4 address as it is, and the groups of an IPv6 address. An IPv4 address that is mapped to IPv6 counts as IPv4. */
function parseAddress(address: string): string | readonly string[] {
  const [, ipv4] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (ipv4 !== undefined) return ipv4;
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  return tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last];
}
