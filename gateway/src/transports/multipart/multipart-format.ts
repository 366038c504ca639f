/** Subscriptions as multipart responses: Apollo's "multipart HTTP protocol for GraphQL subscriptions", `subscriptionSpec=1.0`. */
import { toEnvelope } from '../delivery/send-queue.ts';
import { type StreamFormat, between } from '../delivery/stream-format.ts';

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
  reportsShutdown: true,
};
