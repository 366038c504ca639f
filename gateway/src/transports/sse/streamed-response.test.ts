/** With a real server and a client that reads late. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { SendBuffers } from '../delivery/send-buffers.ts';
import { SendQueue } from '../delivery/send-queue.ts';
import { StreamedResponse, pack } from '../delivery/streamed-response.ts';
import { SERVER_SENT_EVENTS } from './sse-format.ts';

// The number decides what is in flight when the stream ends.
it.each([12_000, 12_003, 12_005, 12_008, 12_011])(
  'ends a StreamedResponse after all of %i results, however late the client reads',
  async (count) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    const [[, response], [received]] = (await Promise.all([
      once(server, 'request').then((arrived: unknown[]) => {
        (arrived[1] as ServerResponse).flushHeaders();
        return arrived;
      }),
      once(request, 'response'),
    ])) as [[unknown, ServerResponse], [IncomingMessage]];
    response.writeHead = () => response;
    const fail = () => {
      throw new Error('Unexpected call');
    };
    const limits = { maxMessages: 1_000_000, maxBytes: 1e9, policy: 'close' as const };
    const buffers = new SendBuffers({ maxBytes: 1e9, stallTimeoutMs: 60_000 });
    const queue = new SendQueue({ limits, buffers, pack, onOverflow: fail, onStalled: fail, onDropped: fail });
    const send = (n: number) => {
      queue.sendDroppable(SERVER_SENT_EVENTS.result, Buffer.from(JSON.stringify({ n, text: 'x'.repeat(1000) })));
    };
    // Results may arrive before the response is open.
    for (let n = 1; n <= 100; n++) send(n);
    const metrics = { sockets: { inc: fail, dec: fail }, subscriptionBegan: fail, subscriptionEnded: fail, eventDropped: fail };
    let closed = '';
    const stream = new StreamedResponse({
      response,
      requestId: 'r',
      format: SERVER_SENT_EVENTS,
      limits,
      metrics,
      buffers,
      queue,
      onClosed: (cause) => (closed = cause),
    });
    for (let n = 101; n <= count; n++) send(n);
    stream.end('shutdown');
    expect(closed).toBe('shutdown');
    let text = '';
    for await (const chunk of received.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    expect(text.match(/"n":\d+/g)).toHaveLength(count);
    server.close();
  },
);
