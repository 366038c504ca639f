import { describe, expect, it } from '@jest/globals';
import { parseTrustedProxies } from './trusted-proxies.ts';

const proxies = parseTrustedProxies('10.0.0.0/8, 192.0.2.7 2001:db8::/32');
const request = (remoteAddress: string | undefined, headers: Record<string, string> = {}) => ({ headers, socket: { remoteAddress } });

describe('parseTrustedProxies', () => {
  it.each(['10.0.0.0/33', '::1/129', 'proxy.example.com', '10.0.0.0/', '10.0.0.0/-1', '*', '10.0.0/8'])('refuses %s', (text) => {
    expect(() => parseTrustedProxies(text)).toThrow('must list IP addresses and CIDR ranges');
  });

  it('trusts nobody when the list is empty', () => {
    const none = parseTrustedProxies(' ');
    expect(none.addressOf(request('127.0.0.1', { 'x-forwarded-for': '1.2.3.4' }))).toBe('127.0.0.1');
    expect(none.protocolOf(request('127.0.0.1', { 'x-forwarded-proto': 'https' }))).toBeUndefined();
  });
});

describe('addressOf', () => {
  it.each([
    ['the peer when it is no proxy', '203.0.113.9', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' }, '203.0.113.9'],
    ['the peer without headers', '10.1.1.1', {}, '10.1.1.1'],
    ['the client of a proxy', '10.1.1.1', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
    ['the client of a proxy on a mapped address', '::ffff:10.1.1.1', { 'x-forwarded-for': '::ffff:1.2.3.4' }, '1.2.3.4'],
    [
      'the last untrusted hop, not what the client has put before it',
      '10.1.1.1',
      { 'x-forwarded-for': '9.9.9.9, 1.2.3.4, 192.0.2.7' },
      '1.2.3.4',
    ],
    ['the first hop when all are trusted', '10.1.1.1', { 'x-forwarded-for': '10.2.2.2, 10.3.3.3' }, '10.2.2.2'],
    ['the nearest hop before a malformed one', '10.1.1.1', { 'x-forwarded-for': '1.2.3.4, x, 10.3.3.3' }, '10.3.3.3'],
    ['the proxy for a malformed value', '10.1.1.1', { 'x-forwarded-for': "1.2.3.4' OR 1=1" }, '10.1.1.1'],
    ['an address without its port', '10.1.1.1', { 'x-forwarded-for': '1.2.3.4:5678' }, '1.2.3.4'],
    ['an IPv6 address', '2001:db8::1', { 'x-forwarded-for': '[2a00::1]:443' }, '2a00::1'],
    ['the client in Forwarded', '10.1.1.1', { forwarded: 'for="[2a00::1]:4711";proto=https, for=192.0.2.7;by=10.1.1.1' }, '2a00::1'],
    // RFC 7239 §4, RFC 9110 §5.6.4: the client chooses the host, which the proxy quotes.
    ['the client behind a host with separators', '10.1.1.1', { forwarded: 'host="a;for=9.9.9.9,x";for=1.2.3.4' }, '1.2.3.4'],
    ['the client behind a host with a quote', '10.1.1.1', { forwarded: 'host="a\\";for=9.9.9.9;\\"";for=1.2.3.4' }, '1.2.3.4'],
    ['the client though it has left a quote open', '10.1.1.1', { forwarded: 'for=9.9.9.9, for=", for=1.2.3.4' }, '1.2.3.4'],
    ['the proxy for a hidden client', '10.1.1.1', { forwarded: 'for=_hidden' }, '10.1.1.1'],
    ['the client when both headers agree', '10.1.1.1', { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=1.2.3.4' }, '1.2.3.4'],
    [
      'the proxy when the headers disagree, so that a client cannot choose',
      '10.1.1.1',
      { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=5.6.7.8' },
      '10.1.1.1',
    ],
  ])('returns %s', (_, peer, headers, expected) => {
    expect(proxies.addressOf(request(peer, headers as Record<string, string>))).toBe(expected);
  });

  it('reads a very long list in little time', () => {
    const list = Array.from({ length: 4000 }, () => '10.0.0.1').join(',');
    expect(proxies.addressOf(request('10.1.1.1', { 'x-forwarded-for': `1.2.3.4,${list}` }))).toBe('10.0.0.1');
  });
});

describe('protocolOf', () => {
  it.each([
    [{ 'x-forwarded-proto': 'https' }, 'https'],
    [{ 'x-forwarded-proto': 'HTTPS, http' }, 'https'],
    [{ 'x-forwarded-proto': 'http' }, 'http'],
    [{ 'x-forwarded-proto': 'ftp' }, undefined],
    [{ forwarded: 'for=1.2.3.4;proto=https' }, 'https'],
    [{ forwarded: 'host="a;proto=https";proto=http' }, 'http'],
    [{ forwarded: 'host="a,proto=https;x";proto="HTTP"' }, 'http'],
    [{ forwarded: 'for=1.2.3.4, for=10.3.3.3;proto=http' }, 'http'],
    [{ forwarded: 'for=1.2.3.4' }, undefined],
    [{}, undefined],
  ])('reads %j of a proxy as %s', (headers, expected) => {
    expect(proxies.protocolOf(request('10.1.1.1', headers as Record<string, string>))).toBe(expected);
    expect(proxies.protocolOf(request('203.0.113.9', headers as Record<string, string>))).toBeUndefined();
  });
});
