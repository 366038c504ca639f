import { expect, it } from '@jest/globals';
import { CLIENT_HEADER, clientOf, createClientIds, passedClientOf, toClientHeaders } from './client-id.ts';

const request = (remoteAddress: string, headers: Record<string, string> = {}) => ({ headers, socket: { remoteAddress } });
const pass = (from: object) => {
  const [name = '', value = ''] = toClientHeaders(from);
  return { [name]: value };
};

it('identifies a client by its network when there is no key, whatever header the client sends', () => {
  const ids = createClientIds(undefined);
  const own = request('203.0.113.9', { [CLIENT_HEADER]: 'someone' });
  expect(ids.identify(own)).toBe('203.0.113.9');
  expect(clientOf(own)).toBe('203.0.113.9');
  expect(toClientHeaders(own)).toEqual([]);
});

it('accepts the client id that a process with the same key passes on, through any number of processes', () => {
  const [bridge, gateway, subgraph] = [createClientIds('k'), createClientIds('k'), createClientIds('k')];
  const [first, second] = [request('203.0.113.9'), request('203.0.113.10')];
  expect(bridge.identify(first)).not.toBe(bridge.identify(second));
  const atGateway = request('127.0.0.1', pass(first));
  expect(gateway.identify(atGateway)).toBe(clientOf(first));
  expect(subgraph.identify(request('127.0.0.1', pass(atGateway)))).toBe(clientOf(first));
});

it.each([
  ['203.0.113.9', '203.0.113.0/24'],
  ['::ffff:203.0.113.9', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::9', '2001:db8:0::/48'],
])('passes the truncated address of %s on, and nothing else of it', (remoteAddress, address) => {
  const [bridge, gateway, subgraph] = [createClientIds('k'), createClientIds('k'), createClientIds('k')];
  const own = request(remoteAddress);
  bridge.identify(own);
  expect(passedClientOf(own)).toBeUndefined();
  expect(toClientHeaders(own).join()).not.toContain(remoteAddress);
  const atGateway = request('127.0.0.1', pass(own));
  gateway.identify(atGateway);
  const atSubgraph = request('127.0.0.1', pass(atGateway));
  subgraph.identify(atSubgraph);
  for (const each of [atGateway, atSubgraph]) expect(passedClientOf(each)).toEqual({ id: clientOf(own), address });
});

it.each([
  ['has another address than the one that was signed', (value: string) => value.replace('.0/24', '.1/24')],
  ['has no signature', (value: string) => value.slice(0, 16)],
  ['has the signature of another key', (value: string) => `${value.slice(0, -43)}${'A'.repeat(43)}`],
  ['is longer than the one that was signed', (value: string) => `${value}A`],
  ['is empty', () => ''],
  ['is as long as headers may be', () => 'x'.repeat(16_000)],
])('does not believe a client id that %s', (_, forge) => {
  const ids = createClientIds('k');
  const [client, honest] = [request('203.0.113.9'), request('203.0.113.10')];
  ids.identify(honest);
  const own = ids.identify(client);
  const [, value = ''] = toClientHeaders(honest);
  for (let time = 0; time < 2; time++) expect(ids.identify(request('203.0.113.9', { [CLIENT_HEADER]: forge(value) }))).toBe(own);
});
