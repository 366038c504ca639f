/** How a stream of results is written into an HTTP response: server-sent events (graphql-sse) and multipart (Apollo's `subscriptionSpec=1.0`). */
import { type Envelope, toEnvelope } from './mailbox.ts';

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

/** The format that an `Accept` names for streams, if it names one; wildcards don't. */
export function chooseStreamFormat(accept: string | undefined): StreamFormat | undefined {
  if (accept === undefined || !/event-stream|multipart/i.test(accept)) return undefined;
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) continue;
    if (type === 'text/event-stream') return SERVER_SENT_EVENTS;
    if (type === 'multipart/mixed' && parameters.some((parameter) => /^subscriptionspec="?1\.0"?$/.test(parameter))) return MULTIPART;
  }
  return undefined;
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
