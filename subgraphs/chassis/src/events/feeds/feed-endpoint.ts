/** Serves the events of a subgraph to the others: `GET /events?after=&limit=&wait=` (ADR 24). Not reachable from the public network. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { followSignal } from '@trestle/http-client/follow-signal';
import { isBearerKey } from '@trestle/identity/credentials/bearer-key';
import type { Log } from '@trestle/log';
import { ERRORS, Fault, fail } from '@trestle/schema/errors';
import { type EventFeed, MAX_FEED_EVENTS } from './domain-event.ts';

/** The path of the endpoint. */
export const FEED_PATH = '/events';
/** The most reads at a time; each consumer has one. */
const MAX_READS = 100;
const MAX_WAIT_SECONDS = 20;
const WHOLE_NUMBER = /^\d{1,4}$/;
const MAX_POSITION_LENGTH = 64;

/** What the endpoint is created from. */
export interface FeedEndpointOptions {
  readonly feed: EventFeed;
  /** The shared key that readers send as a bearer token. */
  readonly key: string;
  readonly log: Log;
}

/** The endpoint, and how to end its reads. */
export interface FeedEndpoint {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Ends the reads that wait for events, and every later one at once. */
  readonly stop: () => void;
}

interface Parameters {
  readonly after: string | undefined;
  readonly limit: number;
  readonly waitMs: number;
}

/** Creates the endpoint. It answers 401 without the key, 400 for a bad parameter, 410 for a position that is not available, and 503. */
export function createFeedEndpoint({ feed, key, log }: FeedEndpointOptions): FeedEndpoint {
  const stopping = new AbortController();
  let reads = 0;

  async function read(request: IncomingMessage, response: ServerResponse): Promise<object> {
    if (request.method !== 'GET') throw fail('METHOD_NOT_ALLOWED', 'Use GET.');
    if (!isBearerKey(request.headers.authorization, key)) throw fail('UNAUTHORIZED', 'The key is missing or wrong.');
    const { after, limit, waitMs } = parseParameters(request.url ?? '');
    if (reads >= MAX_READS)
      throw fail('SERVICE_UNAVAILABLE', `More than ${String(MAX_READS)} reads are waiting. Retry after 1 second.`, {
        retryAfterSeconds: 1,
      });
    reads++;
    const wait = followSignal(stopping.signal, waitMs);
    response.once('close', wait.abort);
    try {
      return { events: await feed.read(after, limit, wait.signal) };
    } catch (error) {
      if (wait.signal.aborted && !(error instanceof Fault)) return { events: [] };
      throw error;
    } finally {
      wait.end();
      reads--;
    }
  }

  return {
    handle(request, response) {
      read(request, response).then(
        (body) => {
          send(response, 200, body);
        },
        (error: unknown) => {
          if (!(error instanceof Fault)) log.error('events could not be read', { error });
          const { code, message } = error instanceof Fault ? error : fail('INTERNAL_ERROR', 'Events could not be read.');
          send(response, ERRORS[code].status, { error: { code, message } });
        },
      );
    },
    stop() {
      stopping.abort();
    },
  };
}

function parseParameters(url: string): Parameters {
  const query = new URL(url, 'http://events').searchParams;
  const [after, limit, wait] = [query.get('after') ?? undefined, query.get('limit') ?? '100', query.get('wait') ?? '0'];
  const isLimit = WHOLE_NUMBER.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_FEED_EVENTS;
  if (!isLimit) throw fail('VALIDATION_ERROR', `\`limit\` must be 1 to ${String(MAX_FEED_EVENTS)}.`);
  if (!WHOLE_NUMBER.test(wait)) throw fail('VALIDATION_ERROR', '`wait` must be a number of seconds.');
  if (after !== undefined && after.length > MAX_POSITION_LENGTH)
    throw fail('VALIDATION_ERROR', '`after` must be the position of an event.');
  return { after, limit: Number(limit), waitMs: Math.min(Number(wait), MAX_WAIT_SECONDS) * 1000 };
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return;
  const content = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(content)),
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="events"' }),
    ...(status === 405 && { allow: 'GET' }),
    ...(status === 503 && { 'retry-after': '1' }),
  });
  response.end(content);
}
