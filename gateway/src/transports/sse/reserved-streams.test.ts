/** With a real server and a client that does not read. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import type { TransportMetrics } from '../../observability/subscription-metrics.ts';
import type { Subscription } from '../../request/subscriber.ts';
import { SendBuffers } from '../delivery/send-buffers.ts';
import { type StreamedExchange, StreamedResponses } from '../delivery/streamed-responses.ts';
import { ReservedStreams } from './reserved-streams.ts';

const ignore = () => undefined;
const metrics = { subscriptionBegan: ignore, subscriptionEnded: ignore, eventDropped: ignore } as unknown as TransportMetrics;

/** Creates streams of a process whose clients may leave this many bytes unread. */
function create(maxBytes: number): ReservedStreams {
  const limits = { maxMessages: 100, maxBytes: 1e9, policy: 'close' as const };
  const options = { verifier: undefined, limits, buffers: new SendBuffers({ maxBytes, stallTimeoutMs: 60_000 }), metrics };
  return new ReservedStreams({
    ...options,
    responses: new StreamedResponses({ ...options, maxStreams: 10 }),
    maxOperations: 2,
    maxOperationBytes: 100,
  });
}

const addTo = (streams: ReservedStreams, token: string, added: string | { readonly id: string; readonly bytes: number }) => {
  const { id, bytes } = typeof added === 'string' ? { id: added, bytes: 1 } : added;
  const context = { caller: null, requestId: `request ${id}`, cancellation: new Cancellation() };
  const accepted: boolean[] = [];
  const operation = streams.addOperation(token, { id, bytes, context, onAccepted: (isStopped) => accepted.push(isStopped) });
  return { operation, context, accepted };
};

describe('reserved event streams', () => {
  it('disconnect a client whose stream has too many waiting bytes when it is opened', async () => {
    const streams = create(30_000_000);
    const [token, other] = [streams.reserve(null), streams.reserve(null)];
    // Waiting for two clients it counts once; what is written to a connection counts for itself.
    const bytes = Buffer.alloc(20_000_000);
    for (const each of [token, other]) addTo(streams, each, 'a').operation.next({ bytes, receivedAt: 0 });
    const server = createServer((_: IncomingMessage, response: ServerResponse) => {
      const record = { measure: ignore, end: ignore };
      streams.open(token, { response, requestId: 'r', record } as unknown as StreamedExchange, null);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    // The head may arrive before the connection is closed.
    await new Promise((resolve) =>
      request
        .once('error', resolve)
        .once('close', resolve)
        .once('response', (response) => response.resume()),
    );
    expect(() => addTo(streams, token, 'b')).toThrow('does not exist');
    streams.stop();
    await new Promise((resolve) => server.close(resolve));
  });

  it('cancel the operation that is stopped, and no other', () => {
    const streams = create(1e9);
    const token = streams.reserve(null);
    const [stopped, other] = [addTo(streams, token, 'a').context, addTo(streams, token, 'b').context];
    streams.stopOperation(token, { id: 'a', caller: null });
    expect([stopped.cancellation.isCancelled, other.cancellation.isCancelled]).toEqual([true, false]);
    streams.stop();
  });

  it('refuse an operation beyond the limit, and name the remaining operations', () => {
    const streams = create(1e9);
    const token = streams.reserve(null);
    for (const id of ['a', 'b']) addTo(streams, token, id);
    const rateLimit = { limit: 2, remaining: 0, resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) };
    expect(() => addTo(streams, token, 'c')).toThrow(expect.objectContaining({ retryAfterSeconds: 1, rateLimit }));
    streams.stop();
  });
});

it('refuses an operation when the requests of the open ones are too large together, until one has ended', () => {
  const streams = create(1e9);
  const token = streams.reserve(null);
  addTo(streams, token, { id: 'a', bytes: 60 });
  expect(() => addTo(streams, token, { id: 'b', bytes: 41 })).toThrow('exceed the limit of 100 bytes');
  addTo(streams, token, { id: 'b', bytes: 40 });
  streams.stopOperation(token, { id: 'a', caller: null });
  addTo(streams, token, { id: 'a', bytes: 60 });
  streams.stop();
});

const SUBSCRIPTION: Subscription = { operationName: undefined, stop: ignore, finish: ignore };
it.each([
  ['once for an operation that is stopped before it begins, whose work goes on', ['stop', 'begin'], [true]],
  ['once for an operation that begins and ends', ['begin', 'stop'], [false]],
  ['never for an operation that is refused', ['refuse', 'begin'], []],
])('calls onAccepted %s', (_, steps, calls) => {
  const streams = create(1e9);
  const token = streams.reserve(null);
  const { operation, accepted } = addTo(streams, token, 'a');
  for (const step of steps) {
    if (step === 'begin') operation.begin(SUBSCRIPTION);
    else if (step === 'stop') streams.stopOperation(token, { id: 'a', caller: null });
    else operation.stop('refused');
  }
  expect(accepted).toEqual(calls);
  streams.stop();
});

it('sends nothing of a query that is stopped, though its result is there as soon as its fetches are cancelled', () => {
  const streams = create(1e9);
  const token = streams.reserve(null);
  const { operation, context, accepted } = addTo(streams, token, 'a');
  let released = 0;
  const bytes = Buffer.from('{"data":null}');
  const known = { status: undefined, challenge: undefined, operationKind: 'query', operationName: undefined } as const;
  const abort = () => {
    operation.sendResult({ ...known, outcome: 'failed', bytes, length: bytes.length, release: () => released++ });
  };
  context.cancellation.add({ abort });
  streams.stopOperation(token, { id: 'a', caller: null });
  expect([accepted, released]).toEqual([[true], 1]);
  streams.stop();
});
