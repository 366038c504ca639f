/** Two bridges before the same gateway: one with `REQUEST_READER=lean`, one with the parser of Node.js (ADR 55). */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bridges: { readonly url: string }[];
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  bridges = await Promise.all(['lean', 'node'].map((reader) => stack.startBridge({ REQUEST_READER: reader })));
});
afterAll(() => stack.stop());

const countRead = () => readMetric(bridges[0]?.url ?? '', 'trestle_lean_requests_total');
const ID = '11111111-2222-4333-8444-555555555555';
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\nX-Request-ID: ${ID}\r\n${headers}\r\n`;

describe('a response to a read that the lean reader reads', () => {
  it.each([
    ['a resource', '', ''],
    ['selected fields', '?fields=id,name', ''],
    ['an own account', '', 'Authorization: Bearer (token)\r\n'],
    ['an invalid token', '', 'Authorization: Bearer x\r\n'],
    ['an unchanged resource', '', 'If-None-Match: *\r\n'],
    ['a condition that is not met', '', 'If-Match: "x"\r\n'],
    ['a range', '', 'Range: bytes=0-9\r\n'],
    ['an unsatisfiable range', '', 'Range: bytes=100000-\r\n'],
    ['a content coding', '', 'Accept-Encoding: br, identity;q=0\r\n'],
    ['an unacceptable media type', '', 'Accept: image/png\r\n'],
    ['problem details', '?fields=nope', 'Accept: application/problem+json\r\n'],
    ['a version that the path contradicts', '', 'API-Version: 2\r\n'],
    ['an unknown resource', 'x', ''],
    ['a key in the URL', '?apiKey=x', ''],
    ['an origin', '', 'Origin: https://a.example\r\n'],
  ])('has the bytes of Node.js for %s', async (_, more, headers) => {
    const before = await countRead();
    const request = get(`/v1/users/${ada.id}${more}`, headers.replace('(token)', ada.token));
    const [lean, node] = await Promise.all(bridges.map(({ url }) => send(url, request)));
    expect(lean).toBe(node);
    expect(await countRead()).toBe(before + 1);
  });

  it.each(['/openapi.json', '/v1/events?limit=1', '/readyz', '/v1/users/x/avatar'])('is left to Node.js for %s', async (target) => {
    const before = await countRead();
    const [lean, node] = await Promise.all(bridges.map(({ url }) => send(url, get(target))));
    expect(lean).toBe(node);
    expect(await countRead()).toBe(before);
  });
});

/** Sends one request, and another that ends the connection when a response has begun to arrive. */
async function send(url: string, first: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.write(first, 'latin1');
  await once(socket, 'data');
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  if (!socket.closed) await once(socket, 'close');
  return mask(answer);
}

/** Removes what differs between two requests: times, random ids, the length of a body that contains one, and its entity tag. */
function mask(text: string): string {
  return text
    .replace(/\r\nDate: [^\r]+/g, '')
    .replace(/\r\n(x-ratelimit-reset|ratelimit): [^\r]+/g, '\r\n$1')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)');
}
