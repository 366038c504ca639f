import { describe, expect, it } from '@jest/globals';
import { MULTIPART } from '../multipart/multipart-format.ts';
import { SERVER_SENT_EVENTS } from '../sse/sse-format.ts';
import { chooseStreamFormat } from './negotiation.ts';

const SPEC = 'multipart/mixed;subscriptionSpec=1.0';

// RFC 9110 §12.5.1: the weight is the client's preference.
describe('chooseStreamFormat', () => {
  it.each([
    ['text/event-stream', SERVER_SENT_EVENTS, true],
    ['text/event-stream, application/json;q=0.5', SERVER_SENT_EVENTS, true],
    ['application/json;q=0.5, TEXT/Event-Stream;q=0.9', SERVER_SENT_EVENTS, true],
    ['text/event-stream, */*;q=0.1', SERVER_SENT_EVENTS, true],
    ['text/event-stream, application/json', SERVER_SENT_EVENTS, false],
    ['text/event-stream;q=0.4, application/graphql-response+json;q=0.5', SERVER_SENT_EVENTS, false],
    ['text/event-stream, application/json;q=0.5, application/graphql-response+json', SERVER_SENT_EVENTS, false],
    ['multipart/mixed', MULTIPART, true],
    [SPEC, MULTIPART, true],
    ['multipart/mixed;subscriptionSpec="1.0"', MULTIPART, true],
    [`${SPEC},application/json`, MULTIPART, false],
    [`${SPEC};q=0.5, text/event-stream;q=0.6`, SERVER_SENT_EVENTS, true],
    [`text/event-stream, ${SPEC}`, SERVER_SENT_EVENTS, true],
  ])('chooses the stream format of Accept: %s', (accept, format, isPreferred) => {
    expect(chooseStreamFormat(accept)).toEqual({ format, isPreferred });
  });

  it.each([
    undefined,
    '*/*',
    'application/json',
    'text/*',
    'text/event-stream;q=0',
    'multipart/form-data',
    'multipart/mixed;deferSpec=20220824',
    'multipart/mixed;deferSpec=20220824,application/json',
    'multipart/mixed;subscriptionSpec=2.0',
    'text/event-stream;q=no',
  ])('returns undefined for Accept: %s', (accept) => {
    expect(chooseStreamFormat(accept)).toBeUndefined();
  });
});
