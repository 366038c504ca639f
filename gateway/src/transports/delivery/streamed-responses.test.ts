/** With a real server and its responses. */
import { once } from 'node:events';
import { type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import { FetchLog } from '../../request/fetch-log.ts';
import type { Subscription } from '../../request/subscriber.ts';
import { SendBuffers } from './send-buffers.ts';
import { toEnvelope } from './send-queue.ts';
import { type StreamFormat, between } from './stream-format.ts';
import { type StreamedExchange, StreamedResponses } from './streamed-responses.ts';

const ignore = () => undefined;
const metrics = { subscriptionBegan: ignore, subscriptionEnded: ignore, eventDropped: ignore } as unknown as TransportMetrics;
const limits = { maxMessages: 100, maxBytes: 1e9, policy: 'close' as const };

const FORMAT: StreamFormat = {
  transport: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  opening: toEnvelope('opening'),
  result: between('', ''),
  heartbeat: toEnvelope('heartbeat'),
  heartbeatMs: 60_000,
  ending: toEnvelope('ending'),
  failure: between('', ''),
  reportsShutdown: false,
};

let server: ReturnType<typeof createServer>;
beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Returns the request of a client, and what the server needs to respond to it. */
async function exchange() {
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const record = { measure: ignore, end: ignore, setOperation: ignore };
  return { request, response, exchange: { response, requestId: 'r', record } as unknown as StreamedExchange };
}

function create() {
  const buffers = new SendBuffers({ maxBytes: 1e9, stallTimeoutMs: 60_000 });
  const responses = new StreamedResponses({ verifier: undefined, limits, buffers, metrics, maxStreams: 10 });
  const context = { caller: null, requestId: 'r', cancellation: new Cancellation(), fetchLog: new FetchLog() };
  return { responses, context, options: { format: FORMAT, context } };
}

/** Returns a subscription that notes whether it was stopped. */
function subscribe() {
  const calls: string[] = [];
  const subscription: Subscription = {
    operationName: undefined,
    stop: () => calls.push('stop'),
    finish: (done) => {
      calls.push('finish');
      done();
    },
  };
  return { calls, subscription };
}

describe('StreamedResponses', () => {
  it('ends the response of a subscription that begins after the process has begun to stop', async () => {
    const { responses, options } = create();
    const { request, exchange: arrived } = await exchange();
    const answered = once(request, 'response');
    const operation = responses.createOperation(arrived, options);
    await responses.drain(0);
    const { calls, subscription } = subscribe();
    operation.begin(subscription);
    const [received] = (await answered) as [AsyncIterable<Buffer>];
    const chunks: Buffer[] = [];
    for await (const chunk of received) chunks.push(chunk);
    expect(calls).toContain('finish');
    expect(Buffer.concat(chunks).toString()).toBe('opening');
  });

  it('stops an operation whose client has disconnected before it is created', async () => {
    const { responses, options, context } = create();
    const { request, response, exchange: arrived } = await exchange();
    request.on('error', ignore).destroy();
    await once(response, 'close');
    const operation = responses.createOperation(arrived, options);
    const { calls, subscription } = subscribe();
    operation.begin(subscription);
    expect([calls, context.cancellation.isCancelled, responses.hasRoom]).toEqual([['stop'], true, true]);
  });
});
