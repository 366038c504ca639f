/** What endpoints beside GraphQL answer when the database or the client fails. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { openDatabase } from '@trestle/chassis/database/database';
import { createLog } from '@trestle/log';
import { Registry } from 'prom-client';
import { readBody } from './read-body.ts';
import { type Reply, createEndpoint } from './respond.ts';

const silent = createLog({ service: 'test', level: 'silent' });

/** Serves an endpoint for the time of `act`. Resolves with the messages of its errors. */
async function serve(reply: (request: IncomingMessage) => Promise<Reply>, act: (port: number) => Promise<void>): Promise<string[]> {
  const errors: string[] = [];
  const server = createServer(createEndpoint(reply, { ...silent, error: (message) => errors.push(message) })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await act((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return errors;
}

it('answers 503 with Retry-After while the database cannot be reached', async () => {
  const database = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', metrics: new Registry() });
  const read = () => database.query('SELECT 1').then((body): Reply => ({ kind: 'json', body }));
  const errors = await serve(read, async (port) => {
    const response = await fetch(`http://127.0.0.1:${String(port)}/`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  });
  expect(errors).toEqual([]);
  await database.close();
});

it('logs no error when the client disconnects amid its body', async () => {
  const reads: Promise<string>[] = [];
  const read = async (request: IncomingMessage): Promise<Reply> => {
    const reading = readBody(request, 100);
    reads.push(reading);
    return { kind: 'json', body: await reading };
  };
  const errors = await serve(read, async (port) => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    while (reads.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await expect(reads[0]).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });
  expect(errors).toEqual([]);
});
