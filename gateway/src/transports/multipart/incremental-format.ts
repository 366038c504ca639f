/** Deferred parts of a result as multipart responses: "GraphQL over HTTP: Incremental Delivery", and the format of 2022 of Apollo's clients. */
import { toEnvelope } from '../delivery/send-queue.ts';
import { type StreamFormat, between } from '../delivery/stream-format.ts';

const BOUNDARY = '-';
const PART = '\r\ncontent-type: application/json; charset=utf-8\r\n\r\n';
const END_OF_PART = `\r\n--${BOUNDARY}`;

/** Returns the format with a parameter of the media type, as the client has named it. */
function toFormat(parameter: string): StreamFormat {
  return {
    transport: 'multipart',
    contentType: `multipart/mixed;boundary="${BOUNDARY}"${parameter}`,
    opening: toEnvelope(END_OF_PART),
    result: between(PART, END_OF_PART),
    // A response without a result, which all clients accept.
    heartbeat: toEnvelope(`${PART}{"hasNext":true}${END_OF_PART}`),
    heartbeatMs: 12_000,
    ending: toEnvelope('--\r\n'),
    failure: between(`${PART}{"hasNext":false,"errors":`, `}${END_OF_PART}`),
    reportsShutdown: false,
  };
}

export const INCREMENTAL = toFormat('');
export const INCREMENTAL_V0_2 = toFormat(';incrementalSpec=v0.2');
export const DEFER_2022 = toFormat(';deferSpec=20220824');
