import { describe, expect, it } from '@jest/globals';
import { toServerAddress, toServerKey } from './server-address.ts';

const read = (url: string) => toServerAddress(new URL(url));

describe('toServerAddress', () => {
  it.each([
    ['http://a:4001/graphql?x=1', { origin: 'http://a:4001', path: '/graphql?x=1', socketPath: undefined }],
    ['https://a', { origin: 'https://a', path: '/', socketPath: undefined }],
    ['unix:///run/a.sock', { origin: 'http://localhost', path: '/', socketPath: '/run/a.sock' }],
    ['unix:///run/a.sock?path=/graphql', { origin: 'http://localhost', path: '/graphql', socketPath: '/run/a.sock' }],
    ['unix:///run/a.sock?other=1&path=/graphql?x=1', { origin: 'http://localhost', path: '/graphql?x=1', socketPath: '/run/a.sock' }],
    ['unix:///run/a%20b:c.sock', { origin: 'http://localhost', path: '/', socketPath: '/run/a b:c.sock' }],
    [`unix:///${'a'.repeat(106)}`, { origin: 'http://localhost', path: '/', socketPath: `/${'a'.repeat(106)}` }],
  ])('reads %s', (url, address) => {
    expect(read(url)).toEqual(address);
  });

  it.each([
    ['a relative path', 'unix://run/a.sock', 'must name a socket by its absolute path'],
    ['no path', 'unix:///', 'must name a socket by its absolute path'],
    ['a NUL', 'unix:///run/a%00b', 'must name a socket by its absolute path'],
    ['a path that the system cuts off', `unix:///${'é'.repeat(54)}`, 'exceeds the limit of 107 bytes'],
    ['a path of requests without a slash', 'unix:///run/a.sock?path=graphql', 'must begin with /'],
    ['a line break', 'unix:///run/a.sock?path=/a%0d%0ax:%201', 'must begin with /'],
  ])('throws for %s', (_, url, message) => {
    expect(() => read(url)).toThrow(message);
  });

  it('gives sockets at different paths different keys', () => {
    const keys = ['unix:///a', 'unix:///b', 'http://localhost/', 'unix:///a?path=/x'].map((url) => toServerKey(read(url)));
    expect(keys).toEqual(['unix:///a', 'unix:///b', 'http://localhost', 'unix:///a']);
  });
});
