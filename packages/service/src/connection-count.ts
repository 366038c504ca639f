/** Bounds the open connections of one address. The address is the peer's: a proxy counts as one. */
import type { Socket } from 'node:net';

export interface ConnectionCount {
  /** Counts the connection until it closes. Returns false, and counts nothing, when its address has as many as it may have. */
  admit(socket: Socket): boolean;
}

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
  const [, ipv4] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (ipv4 !== undefined) return ipv4;
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const filled =
    tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last];
  return `${filled.slice(0, 4).join(':')}::/64`;
}
