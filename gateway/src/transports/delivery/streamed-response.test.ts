/** On a real server, with a client that reads late. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { Mailbox } from './send-queue.ts';
import { ResponseStream, pack } from './streamed-response.ts';
import { SendBuffers } from './send-buffers.ts';
import { SERVER_SENT_EVENTS } from './stream-format.ts';

// What is on its way when the end comes differs with the number.
it.each([12_000, 12_003, 12_005, 12_008, 12_011])('an end comes after all of %i results, however late the client reads', async (count) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [[, response], [answer]] = (await Promise.all([
    once(server, 'request').then((arrived: unknown[]) => {
      (arrived[1] as ServerResponse).flushHeaders();
      return arrived;
    }),
    once(request, 'response'),
  ])) as [[unknown, ServerResponse], [IncomingMessage]];
  response.writeHead = () => response;
  const fail = () => {
    throw new Error('Nothing may be dropped');
  };
  const limits = { maxMessages: 1_000_000, maxBytes: 1e9, policy: 'close' as const };
  const buffers = new SendBuffers({ maxBytes: 1e9, stallTimeoutMs: 60_000 });
  const mailbox = new Mailbox({ limits, buffers, pack, onOverflow: fail, onStuck: fail, onDropped: fail });
  const post = (n: number) => {
    mailbox.postEvent(SERVER_SENT_EVENTS.result, Buffer.from(JSON.stringify({ n, text: 'x'.repeat(1000) })));
  };
  // Results may be there before the response is.
  for (let n = 1; n <= 100; n++) post(n);
  const metrics = { sockets: { inc: fail, dec: fail }, began: fail, ended: fail, dropped: fail };
  let closed = '';
  const stream = new ResponseStream({
    response,
    requestId: 'r',
    format: SERVER_SENT_EVENTS,
    queue: limits,
    metrics,
    buffers,
    mailbox,
    onClosed: (cause) => (closed = cause),
  });
  for (let n = 101; n <= count; n++) post(n);
  stream.end('shutdown');
  expect(closed).toBe('shutdown');
  let text = '';
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  expect(text.match(/"n":\d+/g)).toHaveLength(count);
  server.close();
});
