/**
 * Which addresses deliveries may be sent to: those of the public internet only, so that nobody can make this process send requests into its own
 * network (OWASP, server-side request forgery). The check is at the connection: a name that was public before may resolve to another address.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, type LookupFunction, isIP } from 'node:net';

/** A host whose address deliveries are not sent to. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/** IANA's registry of special-purpose IPv4 addresses, multicast and reserved ones. */
const SPECIAL_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** Of IPv6 only global unicast is public, and of that not these: Teredo and others of IETF protocols, documentation, 6to4. */
const GLOBAL_IPV6 = ['2000::/3'];
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
/** Forms that stand for an IPv4 address in their last 32 bits: IPv4-mapped, and NAT64 (RFC 6052). */
const EMBEDDING_IPV6 = ['::ffff:0:0/96', '64:ff9b::/96'];

const specialIpv4 = toBlockList(SPECIAL_IPV4, 'ipv4');
const globalIpv6 = toBlockList(GLOBAL_IPV6, 'ipv6');
const specialIpv6 = toBlockList(SPECIAL_IPV6, 'ipv6');
const embeddingIpv6 = toBlockList(EMBEDDING_IPV6, 'ipv6');

/** Returns whether an IP address belongs to the public internet. False for a string that is none. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !specialIpv4.check(address, 'ipv4');
  if (family !== 6) return false;
  const plain = address.split('%')[0] ?? '';
  if (embeddingIpv6.check(plain, 'ipv6')) return !specialIpv4.check(toEmbedded(plain), 'ipv4');
  return globalIpv6.check(plain, 'ipv6') && !specialIpv6.check(plain, 'ipv6');
}

/** Returns why no delivery is sent to the host of a URL when it is an address; undefined for a name, which is checked when it is resolved. */
export function findAddressFault({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host) ? 'must not be an address of a private or special network' : undefined;
}

/** The system resolves few names at once, and waits long for one that does not answer: requests to one host share a resolution. */
const MAX_FAILED = 1000;
const FAILED_MS = 10_000;
type Found = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void;
const resolving = new Map<string, Found[]>();
/** Names that were not found, until when. */
const failed = new Map<string, { readonly error: NodeJS.ErrnoException; readonly until: number }>();

/** Resolves a name once for all who wait for it; one that was not found is not looked up again for ten seconds. */
function resolveOnce(hostname: string, callback: Found): void {
  const known = failed.get(hostname);
  if (known && known.until > performance.now()) {
    process.nextTick(callback, known.error, []);
    return;
  }
  const waiting = resolving.get(hostname);
  if (waiting) {
    waiting.push(callback);
    return;
  }
  resolving.set(hostname, [callback]);
  lookup(hostname, { all: true }, (error, addresses) => {
    const callbacks = resolving.get(hostname) ?? [];
    resolving.delete(hostname);
    if (failed.size >= MAX_FAILED) failed.clear();
    if (error) failed.set(hostname, { error, until: performance.now() + FAILED_MS });
    else failed.delete(hostname);
    // `addresses` is undefined after an error.
    for (const each of callbacks) each(error, error ? [] : addresses);
  });
}

/** Creates the resolution of names for connections: it fails with PrivateAddressError when any address of a name is not public, unless these are allowed. */
export function createLookup(allowsPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolveOnce(hostname, (error, addresses) => {
      const [first] = addresses;
      if (error) callback(error, '', 0);
      else if (!allowsPrivate && (!first || addresses.some(({ address }) => !isPublicAddress(address))))
        callback(new PrivateAddressError(`${hostname} resolves to an address of a private or special network`), '', 0);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** Returns the IPv4 address in the last 32 bits. */
function toEmbedded(address: string): string {
  const dotted = /:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  // The URL parser writes an address in its shortest form, in which the last two groups are those of the IPv4 address.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function toBlockList(ranges: readonly string[], type: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), type);
  }
  return list;
}
