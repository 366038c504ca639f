/** What is nested thousands of levels deep, at a subgraph: over HTTP and on a socket. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

let stack: LeasedStack;
beforeAll(async () => {
  stack = await leaseStack();
});
afterAll(() => stack.stop());

const users = () => stack.subgraphs.users.url;
const connect = () => new WebSocket(`${users().replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');

describe('a subgraph', () => {
  it('answers VALIDATION_ERROR with the limit to what is nested thousands of levels deep, also over HTTP', async () => {
    const nest = (open: string, close: string) => open.repeat(5000) + close.repeat(5000);
    const fragments = Array.from({ length: 5000 }, (_, i) => `fragment F${String(i)} on Query{...F${String(i + 1)}}`);
    for (const payload of [
      `{"query":"${nest('{...', '}')}"}`,
      `{"query":"{user(id:${nest('[', ']')}){id}}"}`,
      `{"query":"query($id:ID!){user(id:$id){id}}","variables":{"id":${nest('[', ']')}}}`,
      `{"query":"{...F0}${fragments.join('')}fragment F5000 on Query{__typename}"}`,
    ]) {
      const errors = [
        {
          message: expect.stringContaining('nested deeper than the limit of 500 levels.'),
          extensions: { code: 'VALIDATION_ERROR', requestId: expect.any(String) },
        },
      ];
      const socket = connect();
      await once(socket, 'open');
      socket.send('{"type":"connection_init"}');
      await once(socket, 'message');
      socket.send(`{"id":"1","type":"subscribe","payload":${payload}}`);
      const [message] = (await once(socket, 'message')) as [Buffer];
      socket.close();
      expect(JSON.parse(message.toString())).toEqual({ id: '1', type: 'error', payload: errors });
      const response = await fetch(`${users()}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: payload,
      });
      expect([response.status, await response.json()]).toEqual([400, { errors }]);
    }
  });
});
