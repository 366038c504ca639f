/** Against a real HTTP server that sends what the test says. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createSubgraphStreams } from './subgraph-streams.ts';
import type { SubscriptionPool } from './subscription-upstream.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

let server: Server;
let streams: SubscriptionPool;
let handle: Handle;
let origin: string;
let requests: IncomingMessage[];
beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  streams = createSubgraphStreams();
});
afterEach(async () => {
  jest.useRealTimers();
  streams.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const PAYLOAD = { query: 'subscription { tick }', operationName: undefined, variables: { a: 1 }, extensions: { resume: {} } };

/** Subscribes. `ended` resolves with how the stream has ended. */
function subscribe({ identity = [], address = `${origin}/graphql?x=1` }: { identity?: string[]; address?: string } = {}) {
  const events: unknown[] = [];
  let stop: () => void = () => undefined;
  let noteEvent: () => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => {
    stop = streams.open({ name: 'ticks', url: address, tls: () => undefined }).subscribe(
      { identity, requestId: 'r', payload: PAYLOAD },
      {
        next: (result) => {
          events.push(result);
          noteEvent();
        },
        complete: () => {
          resolve('complete');
        },
        refused: (errors) => {
          resolve({ errors });
        },
        lost: ({ isUnauthorized, cause }) => {
          resolve({ isUnauthorized, cause: cause.message });
        },
      },
    );
  });
  const first = new Promise<void>((resolve) => (noteEvent = resolve));
  return {
    events,
    ended,
    first,
    stop: () => {
      stop();
    },
  };
}

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8', 'content-encoding': 'none' };
const respond =
  (status: number, headers: Record<string, string>, body: string): Handle =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };
const lost = (cause: RegExp, isUnauthorized = false): unknown => ({ isUnauthorized, cause: expect.stringMatching(cause) });

describe('createSubgraphStreams', () => {
  it('sends the subscription as GraphQL over SSE says, with the headers of the caller', async () => {
    let body = '';
    handle = async (request, response) => {
      body = await text(request);
      response.writeHead(200, EVENTS).end('event: complete\ndata:\n\n');
    };
    expect(await subscribe({ identity: ['authorization', 'Bearer a', 'x-tenant', 't'] }).ended).toBe('complete');
    const [{ method, url, headers } = {}] = requests;
    expect([method, url, JSON.parse(body)]).toEqual(['POST', '/graphql?x=1', JSON.parse(JSON.stringify(PAYLOAD))]);
    expect(headers).toMatchObject({
      ...{
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'x-request-id': 'r',
        authorization: 'Bearer a',
        'x-tenant': 't',
      },
    });
  });

  it('also takes the address of a WebSocket', async () => {
    handle = respond(200, EVENTS, 'event: complete\ndata:\n\n');
    expect(await subscribe({ address: `${origin.replace('http', 'ws')}/events` }).ended).toBe('complete');
    expect(requests[0]?.url).toBe('/events');
  });

  it('reads events however they are cut into parts, with comments, and names that are missing', async () => {
    const stream =
      ':\n\nevent: next\ndata: {"data":{"tick":"ü→"}}\n\nid: 1\ndata: {"data":\r\ndata: {"tick":2}}\n\nevent: other\ndata: x\n\nevent: complete\ndata:\n\n';
    const bytes = Buffer.from(stream);
    handle = async (_, response) => {
      response.writeHead(200, EVENTS);
      for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
    };
    const { events, ended } = subscribe();
    expect(await ended).toBe('complete');
    expect(events).toEqual([{ data: { tick: 'ü→' } }, { data: { tick: 2 } }]);
  });

  it.each([
    ['gqlgen', 'event: complete\n\n'],
    ['a server with other line ends', 'event:complete\r\n\r\n'],
    ['a server that cuts it into parts', 'event: next\ndata: {"data":{"tick":1}}\n\neve', 'nt: ', 'complete\n', '\n'],
  ])('is complete after an event without data, as %s sends it', async (_, ...parts) => {
    handle = async (_request, response) => {
      response.writeHead(200, EVENTS);
      for (const part of parts) await new Promise((resolve) => response.write(part, resolve));
      response.end();
    };
    expect(await subscribe().ended).toBe('complete');
  });

  it.each(['data: event: complete\n\n', 'event: completed\n\n'])('is not complete after %j', async (part) => {
    handle = respond(200, EVENTS, `event: other\n${part}`);
    expect(await subscribe().ended).toEqual(lost(/before the subscription was complete/));
  });

  it('gives nothing to the receiver after complete, and nothing once it is stopped', async () => {
    handle = respond(200, EVENTS, 'event: complete\ndata:\n\nevent: next\ndata: {"data":{"tick":1}}\n\n');
    const completed = subscribe();
    expect([await completed.ended, completed.events]).toEqual(['complete', []]);
    const closed = new Promise((resolve) => {
      handle = (_, response) => {
        response.once('close', resolve);
        response.writeHead(200, EVENTS).write('event: next\ndata: {"data":{"tick":1}}\n\n');
      };
    });
    const stopped = subscribe();
    await stopped.first;
    stopped.stop();
    await closed;
    expect(await Promise.race([stopped.ended, Promise.resolve('nothing')])).toBe('nothing');
  });

  it('refuses with the errors of a response that is no stream', async () => {
    const errors = [{ message: 'No.', extensions: { code: 'BAD' } }];
    for (const status of [200, 400, 503])
      for (const type of ['application/json', 'application/graphql-response+json; charset=utf-8']) {
        handle = respond(status, { 'content-type': type }, JSON.stringify({ errors }));
        expect(await subscribe().ended).toEqual({ errors });
      }
  });

  it('is lost, and says when the credential was refused', async () => {
    handle = respond(401, { 'content-type': 'application/json' }, '{"errors":[{"message":"No."}]}');
    expect(await subscribe().ended).toEqual(lost(/401/, true));
    handle = respond(403, EVENTS, '');
    expect(await subscribe().ended).toEqual(lost(/403/, true));
  });

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    ['HTML', 502, { 'content-type': 'text/html' }, '<html>', /502/],
    ['no type', 200, {}, '{}', /200/],
    ['a redirect', 307, { location: 'http://127.0.0.1:9/', ...EVENTS }, '', /307/],
    ['compressed events', 200, { ...EVENTS, 'content-encoding': 'gzip' }, 'x', /200/],
    ['an end without complete', 200, EVENTS, 'event: next\ndata: {"data":{"tick":1}}\n\n', /before the subscription was complete/],
    ['a single result', 200, { 'content-type': 'application/json' }, '{"data":{"tick":1}}', /before the subscription was complete/],
    ['JSON that is no object', 200, { 'content-type': 'application/json' }, '[]', /before/],
    ['an event that is no JSON', 200, EVENTS, 'event: next\ndata: {"data"\n\n', /no result/],
    ['an event that is no object', 200, EVENTS, 'event: next\ndata: [1]\n\n', /no result/],
    ['an event without data', 200, EVENTS, 'event: next\ndata:\n\n', /no result/],
    ['a large refusal', 400, { 'content-type': 'application/json' }, `"${'x'.repeat(1024 * 1024)}"`, /too much/],
  ])('is lost after %s', async (_, status, headers, body, cause) => {
    handle = respond(status, headers, body);
    expect(await subscribe().ended).toEqual(lost(cause));
  });

  it('is lost when the connection is cut at any place, and when none can be opened', async () => {
    handle = (_, response) => response.destroy();
    expect(await subscribe().ended).toEqual(lost(/other side closed|ECONNRESET|closed/));
    handle = (_, response) => {
      response.writeHead(200, EVENTS).write('event: ne', () => response.destroy());
    };
    expect(await subscribe().ended).toEqual(lost(/terminated|closed|ECONNRESET/));
    expect(await subscribe({ address: 'http://127.0.0.1:9/' }).ended).toEqual(lost(/ECONNREFUSED/));
  });

  it('is lost for an event of more than 32 MiB, whether it is one line or many', async () => {
    for (const part of ['x'.repeat(1024 * 1024), `${'x'.repeat(1024 * 1024)}\ndata: `]) {
      const closed = new Promise((resolve) => {
        handle = (_, response) => {
          const write = () => {
            while (!response.destroyed && response.write(part));
          };
          response.on('drain', write).once('close', resolve).writeHead(200, EVENTS).write('data: ');
          write();
        };
      });
      expect(await subscribe().ended).toEqual(lost(/exceed|max/i));
      await closed;
    }
  });

  it('is lost when a server that has sent comments sends nothing for a minute', async () => {
    handle = (_, response) => response.writeHead(200, EVENTS).write(':\n\nevent: next\ndata: {"data":{"tick":1}}\n\n');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { first, ended } = subscribe();
    await first;
    jest.advanceTimersByTime(60_000);
    expect(await ended).toEqual(lost(/no comments/));
  });
});
