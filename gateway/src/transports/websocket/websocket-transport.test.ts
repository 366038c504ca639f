/** With a real server and client. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws/client';
import { WebSocket } from 'ws';
import { WebSocketTransport, type WebSocketTransportOptions } from './websocket-transport.ts';

const fault = () => {
  throw new Error('broken');
};

it.each([
  ['before the request is counted', { open: fault }],
  ['after Redis has counted it', { open: () => ({ begin: (done: () => void) => setImmediate(done), headersFor: fault }) }],
])('closes the connection of a request that fails %s, and logs it', async (_, rateLimits) => {
  const lines: string[] = [];
  const log = { error: (message: string) => void lines.push(message) };
  const limits = { maxSockets: 10, maxMessageBytes: 1000, pingIntervalMs: 60_000, closeTimeoutMs: 1000 };
  const parts = { limits, log, rateLimits, path: '/graphql', forwardHeaders: [], tokenSources: [] };
  const transport = new WebSocketTransport(parts as unknown as WebSocketTransportOptions);
  const server = createServer().on('upgrade', transport.upgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/graphql`, GRAPHQL_TRANSPORT_WS_PROTOCOL);
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toBe('socket hang up');
  expect(lines).toEqual(['WebSocket failed']);
  await transport.drain(0, 0);
  await new Promise((resolve) => server.close(resolve));
});
