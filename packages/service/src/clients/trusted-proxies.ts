/** What the operator's proxies say of the client of a request: its address and whether it used HTTPS. Others' headers are ignored (contract §4). */
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { readParameter, splitOutsideQuotes } from '../messages/parameters.ts';

/** Knows the proxies in front of a process. */
export interface TrustedProxies {
  /**
   * Returns the address of the client: that of the peer, or, when the peer is a trusted proxy, the last one in `X-Forwarded-For` or
   * `Forwarded` (RFC 7239) that is not itself a trusted proxy. When both headers are there and disagree, one of them is forged: then
   * the address of the proxy is returned.
   */
  addressOf(request: ProxiedRequest): string;
  /** Returns `https` or `http` as a trusted proxy reports it; undefined when the peer is none, or reports nothing. */
  protocolOf(request: ProxiedRequest): 'http' | 'https' | undefined;
}

/** The parts of a request that the answers depend on. */
export interface ProxiedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Addresses that one header may list; those further away are not looked at. */
const MAX_HOPS = 20;
const MAX_CACHED_PEERS = 1000;

/** Parses addresses and CIDR ranges, such as `10.0.0.0/8, ::1`, separated by commas or spaces. Throws an Error for anything else. */
export function parseTrustedProxies(text: string): TrustedProxies {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length === 0) return NO_PROXIES;
  const list = new BlockList();
  for (const name of names) addRange(list, name);
  return createTrustedProxies((address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
}

/** Trusts no proxy: the peer is the client. */
export const NO_PROXIES: TrustedProxies = {
  addressOf: ({ socket }) => socket.remoteAddress ?? '',
  protocolOf: () => undefined,
};

function addRange(list: BlockList, name: string): void {
  const [address = '', prefix] = name.split('/');
  const family = isIP(address);
  const bits = family === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  if (family === 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) || length > bits)
    throw new Error('must list IP addresses and CIDR ranges such as 10.0.0.0/8, separated by commas');
  list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
}

function createTrustedProxies(contains: (address: string) => boolean): TrustedProxies {
  const peers = new Map<string, boolean>();
  const isTrusted = (address: string) => isIP(address) !== 0 && contains(address);
  const isTrustedPeer = (address: string) => {
    const known = peers.get(address);
    if (known !== undefined) return known;
    if (peers.size >= MAX_CACHED_PEERS) peers.clear();
    const isProxy = isTrusted(address);
    peers.set(address, isProxy);
    return isProxy;
  };
  const findClient = (hops: readonly string[], peer: string) => {
    let client = peer;
    for (const hop of hops) {
      if (isIP(hop) === 0) return client;
      client = hop;
      if (!isTrusted(hop)) return client;
    }
    return client;
  };
  return {
    addressOf({ headers, socket }) {
      const peer = toPlain(socket.remoteAddress ?? '');
      const { 'x-forwarded-for': list, forwarded } = headers;
      if ((list === undefined && forwarded === undefined) || !isTrustedPeer(peer)) return peer;
      const byList = list === undefined ? undefined : findClient(toHops(join(list).split(',')), peer);
      const byForwarded = forwarded === undefined ? undefined : findClient(toHops(readForwarded(forwarded, 'for')), peer);
      if (byList !== undefined && byForwarded !== undefined && byList !== byForwarded) return peer;
      return byList ?? byForwarded ?? peer;
    },
    protocolOf({ headers, socket }) {
      const { 'x-forwarded-proto': list, forwarded } = headers;
      if ((list === undefined && forwarded === undefined) || !isTrustedPeer(toPlain(socket.remoteAddress ?? ''))) return undefined;
      // The first proxy is the one that the client used.
      const [protocol] =
        list === undefined ? readForwarded(forwarded ?? '', 'proto').filter((name) => name !== '') : join(list).split(',', 1);
      const name = protocol?.trim().toLowerCase();
      return name === 'http' || name === 'https' ? name : undefined;
    },
  };
}

function join(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(',');
}

/** Returns the addresses of a list, the nearest first. An element that names none becomes an empty string. */
function toHops(elements: readonly string[]): string[] {
  return elements
    .slice(-MAX_HOPS)
    .reverse()
    .map((element) => toAddress(element.trim()));
}

/** Returns a parameter of each element of `Forwarded` (RFC 7239 §4); an empty string for an element without it. */
function readForwarded(header: string, name: 'for' | 'proto'): string[] {
  return splitOutsideQuotes(header, ',').map((element) => readParameter(splitOutsideQuotes(element, ';'), name) ?? '');
}

/** Removes the port and the brackets of an address. */
function toAddress(text: string): string {
  const [, bracketed] = /^\[([^\]]{0,64})\](?::\d{1,5})?$/.exec(text) ?? [];
  if (bracketed !== undefined) return toPlain(bracketed);
  const [, ipv4] = /^([\d.]{7,15}):\d{1,5}$/.exec(text) ?? [];
  return toPlain(ipv4 ?? text);
}

/** Returns an IPv4 address that is mapped to IPv6 as IPv4, so that both count as the same address. */
function toPlain(address: string): string {
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
