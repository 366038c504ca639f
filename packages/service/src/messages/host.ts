/** Checks the value of `Host`. No I/O. */
import { isIPv6 } from 'node:net';

const HOST = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(?<port>\d*))?$/i;
const MAX_HOST_LENGTH = 255;
const MAX_PORT = 65_535;

/** Returns whether the value of `Host` is well-formed. An empty one is (RFC 9110 §7.2, RFC 3986 §3.2.2). */
export function isHost(text: string): boolean {
  const groups = text.length <= MAX_HOST_LENGTH ? HOST.exec(text)?.groups : undefined;
  return groups !== undefined && (groups['ipv6'] === undefined || isIPv6(groups['ipv6'])) && Number(groups['port'] ?? 0) <= MAX_PORT;
}
