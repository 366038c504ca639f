/** How a stream of results is written into an HTTP response: server-sent events (graphql-sse) and multipart (Apollo's `subscriptionSpec=1.0`). */
import { type MediaRange, readAccept, weighJson } from '../http/media-type.ts';
import { type Envelope, toEnvelope } from './send-queue.ts';

export interface StreamFormat {
  readonly transport: 'sse' | 'multipart';
  readonly contentType: string;
  /** Sent at once, so that the client has its head. */
  readonly opening: Envelope;
  /** Around each result. */
  readonly result: Envelope;
  /** Around a result that tells a position, where the position has a place besides. */
  readonly resultAt?: (position: string) => Envelope;
  /** Sent while there is nothing to say, as often as this. */
  readonly heartbeat: Envelope;
  readonly heartbeatMs: number;
  /** After the last result. */
  readonly ending: Envelope;
  /** Around the errors that a stream ends with, as a JSON list. */
  readonly failure: Envelope;
  /** Whether a client has to be told when the server goes down; else it comes again by itself. */
  readonly tellsShutdown: boolean;
}

const between = (head: string, tail: string): Envelope => ({ head: Buffer.from(head), tail: Buffer.from(tail) });

const COMMENT = toEnvelope(':\n\n');

export const SERVER_SENT_EVENTS: StreamFormat = {
  transport: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  // Some browsers take no head without a body.
  opening: COMMENT,
  result: between('event: next\ndata: ', '\n\n'),
  resultAt: (position) => between(`event: next\nid: ${position}\ndata: `, '\n\n'),
  heartbeat: COMMENT,
  heartbeatMs: 12_000,
  ending: toEnvelope('event: complete\ndata: \n\n'),
  failure: between('event: next\ndata: {"errors":', '}\n\n'),
  tellsShutdown: false,
};

const BOUNDARY = 'graphql';
const PART = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';
const END_OF_PART = `\r\n--${BOUNDARY}`;

export const MULTIPART: StreamFormat = {
  transport: 'multipart',
  contentType: `multipart/mixed;boundary="${BOUNDARY}";subscriptionSpec=1.0`,
  opening: toEnvelope(END_OF_PART),
  result: between(`${PART}{"payload":`, `}${END_OF_PART}`),
  heartbeat: toEnvelope(`${PART}{}${END_OF_PART}`),
  heartbeatMs: 5000,
  ending: toEnvelope('--\r\n'),
  failure: between(`${PART}{"payload":null,"errors":`, `}${END_OF_PART}`),
  tellsShutdown: true,
};

/** What an `Accept` says about streams. */
export interface StreamChoice {
  readonly format: StreamFormat;
  /** Whether the client would rather have a stream than JSON, so that the result of a query is streamed too (graphql-sse, "Distinct connections mode"). */
  readonly isPreferred: boolean;
}

/** The format that an `Accept` gives the highest weight among those of streams; undefined when it names none. Wildcards name none. */
export function chooseStreamFormat(accept: string | undefined): StreamChoice | undefined {
  if (accept === undefined || !/event-stream|multipart/i.test(accept)) return undefined;
  const ranges = readAccept(accept);
  let best: { readonly format: StreamFormat; readonly weight: number } | undefined;
  for (const range of ranges) {
    const format = toStreamFormat(range);
    if (format && range.weight > (best?.weight ?? 0)) best = { format, weight: range.weight };
  }
  return best && { format: best.format, isPreferred: best.weight > weighJson(ranges) };
}

/** `multipart/mixed` alone is what there is of it; with a specification it must be the one of subscriptions, not that of `@defer`. */
function toStreamFormat({ type, parameters }: MediaRange): StreamFormat | undefined {
  if (type === 'text/event-stream') return SERVER_SENT_EVENTS;
  if (type !== 'multipart/mixed') return undefined;
  const isOther = parameters.some(
    (parameter) => /^(?:subscriptionspec|deferspec)=/.test(parameter) && !/^subscriptionspec="?1\.0"?$/.test(parameter),
  );
  return isOther ? undefined : MULTIPART;
}

/** In one connection for several operations each message names its own (graphql-sse, "Single connection mode"). */
export function toNamedFormat(id: string): Pick<StreamFormat, 'result' | 'ending' | 'failure' | 'tellsShutdown'> {
  const name = JSON.stringify(id);
  return {
    result: between(`event: next\ndata: {"id":${name},"payload":`, '}\n\n'),
    ending: toEnvelope(`event: complete\ndata: {"id":${name}}\n\n`),
    failure: between(`event: next\ndata: {"id":${name},"payload":{"errors":`, '}}\n\n'),
    tellsShutdown: false,
  };
}
