/** Server-sent events as graphql-sse writes them (HTML, "Server-sent events"). */
import { toEnvelope } from '../delivery/send-queue.ts';
import { type ResultFormat, type StreamFormat, between } from '../delivery/stream-format.ts';

const COMMENT = toEnvelope(':\n\n');

/** "Distinct connections mode": one operation for each response. */
export const SERVER_SENT_EVENTS: StreamFormat = {
  transport: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  // Some browsers do not accept a head without a body.
  opening: COMMENT,
  result: between('event: next\ndata: ', '\n\n'),
  resultAt: (position) => between(`event: next\nid: ${position}\ndata: `, '\n\n'),
  heartbeat: COMMENT,
  heartbeatMs: 12_000,
  ending: toEnvelope('event: complete\ndata: \n\n'),
  failure: between('event: next\ndata: {"errors":', '}\n\n'),
  reportsShutdown: false,
};

/** Returns the format of one operation in "single connection mode", where each message names its operation. */
export function toNamedFormat(id: string): ResultFormat {
  const name = JSON.stringify(id);
  return {
    result: between(`event: next\ndata: {"id":${name},"payload":`, '}\n\n'),
    ending: toEnvelope(`event: complete\ndata: {"id":${name}}\n\n`),
    failure: between(`event: next\ndata: {"id":${name},"payload":{"errors":`, '}}\n\n'),
    reportsShutdown: false,
  };
}
