import { describe, expect, it } from '@jest/globals';
import { createGraphChooser } from './choose-graph.ts';

const GRAPHS = [
  { place: { name: 'shop', path: '/shop', hosts: [] } },
  { place: { name: 'shop_v2', path: '/shop/v2', hosts: [] } },
  { place: { name: 'admin', path: '', hosts: ['admin.example.com'] } },
];

/** Returns the graph of a request, and the URL that the graph gets. */
const choose = (url: string, host?: string) => {
  const request = { url, headers: { host } };
  return [createGraphChooser(GRAPHS)(request)?.place.name, request.url];
};

describe('createGraphChooser', () => {
  it.each([
    ['/shop/graphql?query=1', undefined, 'shop', '/graphql?query=1'],
    ['/shop/v2/graphql', undefined, 'shop_v2', '/graphql'],
    ['/shop/graphql/assets/app-1.js', undefined, 'shop', '/graphql/assets/app-1.js'],
    ['/shop/v3/graphql', undefined, 'shop', '/v3/graphql'],
    ['/graphql', 'Admin.Example.com:8443', 'admin', '/graphql'],
    ['/graphql', 'admin.example.com.', 'admin', '/graphql'],
    ['/graphql', 'admin.example.com.:8443', 'admin', '/graphql'],
    ['/shop/graphql', 'admin.example.com', 'admin', '/shop/graphql'],
    ['/.well-known/oauth-protected-resource/shop/mcp', undefined, 'shop', '/.well-known/oauth-protected-resource/mcp'],
    ['/shop/.well-known/oauth-protected-resource/mcp', undefined, 'shop', '/.well-known/oauth-protected-resource/mcp'],
    ['/.well-known/oauth-protected-resource/mcp', 'admin.example.com', 'admin', '/.well-known/oauth-protected-resource/mcp'],
  ])('gives %s at the host %s to the graph %s as %s', (url, host, name, rest) => {
    expect(choose(url, host)).toEqual([name, rest]);
  });

  it.each([
    ['/graphql', undefined],
    ['/graphql/assets/app-1.js', undefined],
    ['/graphql', 'example.com'],
    ['/graphql', 'admin.example.com.evil.test'],
    ['/graphql', 'admin.example.com..'],
    ['/shop', undefined],
    ['/shop/', undefined],
    ['/shopping/graphql', undefined],
    ['/.well-known/oauth-protected-resource/mcp', undefined],
    ['*', undefined],
    ['', 'a:b:c'],
  ])('gives %s at the host %s to none', (url, host) => {
    expect(choose(url, host)).toEqual([undefined, url]);
  });
});
