import { expect, it } from '@jest/globals';
import { CLIENT_HEADER, clientOf, createClientIds, toClientHeaders } from './client-id.ts';

const request = (remoteAddress: string, headers: Record<string, string> = {}) => ({ headers, socket: { remoteAddress } });
const pass = (from: object) => {
  const [name = '', value = ''] = toClientHeaders(from);
  return { [name]: value };
};

it('names a client by its network when there is no key, whatever header it sends', () => {
  const ids = createClientIds(undefined);
  const own = request('203.0.113.9', { [CLIENT_HEADER]: 'somebody' });
  expect(ids.identify(own)).toBe('203.0.113.9');
  expect(clientOf(own)).toBe('203.0.113.9');
  expect(toClientHeaders(own)).toEqual([]);
});

it('takes over the client that a process with the same key passes on, over any number of processes', () => {
  const [bridge, gateway, subgraph] = [createClientIds('k'), createClientIds('k'), createClientIds('k')];
  const [first, second] = [request('203.0.113.9'), request('203.0.113.10')];
  expect(bridge.identify(first)).not.toBe(bridge.identify(second));
  const atGateway = request('127.0.0.1', pass(first));
  expect(gateway.identify(atGateway)).toBe(clientOf(first));
  expect(subgraph.identify(request('127.0.0.1', pass(atGateway)))).toBe(clientOf(first));
});

it('does not tell the address of a client to the next process', () => {
  const own = request('203.0.113.9');
  createClientIds('k').identify(own);
  expect(toClientHeaders(own).join()).not.toContain('203');
});

it.each([
  ['has no signature', (value: string) => value.slice(0, 16)],
  ['has the signature of another key', (value: string) => `${value.slice(0, 17)}${'A'.repeat(43)}`],
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
