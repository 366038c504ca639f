/** Subscribes at the gateway over server-sent events (GraphQL over SSE, distinct connections mode), with the resume extension. */
import { errors } from '@trestle/http-client/undici';
import type { Agent } from 'undici';
import { fail } from '@trestle/schema/errors';
import { createEventParser } from './event-parser.ts';
import type { GraphQLResult } from './graphql-result.ts';

/** A request for a stream of results. */
export interface SubscriptionRequest {
  /** The JSON of the body up to the value of `variables`. */
  readonly bodyStart: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The position of the last result that the subscriber has received. */
  readonly after: string | undefined;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/** A result, and the position behind which a subscriber resumes. */
export interface StreamedResult extends Pick<GraphQLResult, 'data' | 'errors'> {
  readonly extensions?: { readonly position?: string };
}

/** A result is a small object; a longer one is none of ours. */
const MAX_RESULT_CHARACTERS = 1024 * 1024;

/** Where subscriptions are sent. */
export interface SubscriptionGateway {
  readonly dispatcher: Agent;
  readonly origin: string;
  readonly path: string;
  /** Maximum time to the first result, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Yields the results of a subscription, as they come: the next one is read only when it is asked for, so that a slow client slows the gateway down.
 * Throws UPSTREAM_TIMEOUT when the first result does not come in time: it is the position, which does not wait for an event. Throws UPSTREAM_ERROR when
 * the gateway is unreachable, or is lost without an end of the stream.
 */
export async function* subscribe(
  gateway: SubscriptionGateway,
  { bodyStart, variables, headers, after, signal }: SubscriptionRequest,
): AsyncGenerator<StreamedResult> {
  const resume = JSON.stringify({ resume: after === undefined ? {} : { after } });
  const body = `${bodyStart}${JSON.stringify(variables)},"extensions":${resume}}`;
  const { origin, path, dispatcher, timeoutMs } = gateway;
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
  }, timeoutMs);
  try {
    const response = await dispatcher.request({
      origin,
      path,
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream' },
      body,
      signal: AbortSignal.any([signal, late.signal]),
      // Heartbeats come every 12 s.
      bodyTimeout: 60_000,
    });
    const isStream = String(response.headers['content-type']).startsWith('text/event-stream');
    if (!isStream) {
      const result = (await response.body.json()) as StreamedResult;
      clearTimeout(timer);
      yield result;
      return;
    }
    const parse = createEventParser(MAX_RESULT_CHARACTERS);
    const decoder = new TextDecoder();
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      for (const { event, data } of parse(decoder.decode(chunk, { stream: true }))) {
        if (event === 'complete') return;
        if (event !== 'next') continue;
        clearTimeout(timer);
        yield JSON.parse(data) as StreamedResult;
      }
    }
  } catch (cause) {
    if (late.signal.aborted && !signal.aborted)
      throw fail('UPSTREAM_TIMEOUT', `The gateway did not respond within ${String(timeoutMs)} ms. Retry later.`, { cause });
    if (signal.aborted || cause instanceof errors.RequestAbortedError) return;
    throw fail('UPSTREAM_ERROR', 'The gateway is unavailable. Retry later.', { cause });
  } finally {
    clearTimeout(timer);
  }
  throw fail('UPSTREAM_ERROR', 'The connection to the gateway was lost. Retry later.');
}
