/** Reads the events of another subgraph from its endpoint (`feed-endpoint.ts`), by long polling. */
import { followSignal } from '@trestle/http-client/follow-signal';
import { fail } from '@trestle/schema/errors';
import type { DomainEvent, EventFeed } from './domain-event.ts';
import { isDomainEvent } from './parse-events.ts';

/** How long the other side waits for the first event, in seconds. */
const WAIT_SECONDS = 20;
const TIMEOUT_MS = 30_000;
/** An event has less than 1 KiB. */
const MAX_BYTES = 4 * 1024 * 1024;

/** What the feed is created from. */
export interface HttpFeedOptions {
  readonly source: string;
  /** The address of the endpoint. */
  readonly url: string;
  readonly key: string;
  /** How long the other side waits for the first event, in seconds. */
  readonly waitSeconds?: number;
}

/** Creates the feed. */
export function createHttpFeed({ source, url, key, waitSeconds = WAIT_SECONDS }: HttpFeedOptions): EventFeed {
  return {
    source,
    async read(after, limit, signal) {
      const address = new URL(url);
      address.search = new URLSearchParams({
        ...(after !== undefined && { after }),
        limit: String(limit),
        wait: String(waitSeconds),
      }).toString();
      const limited = followSignal(signal, TIMEOUT_MS);
      try {
        const request = { headers: { authorization: `Bearer ${key}` }, signal: limited.signal };
        const response = await fetch(address, { ...request, redirect: 'error' }).catch((cause: unknown) => {
          signal.throwIfAborted();
          throw fail('SERVICE_UNAVAILABLE', `The events of ${source} cannot be reached.`, { cause });
        });
        const text = await readText(response);
        if (response.status === 410) throw fail('GONE', `Position ${String(after)} of ${source} is no longer available.`);
        if (response.status === 400)
          throw fail('VALIDATION_ERROR', `${source} refused to read behind ${String(after)}: ${text.slice(0, 200)}`);
        if (response.status !== 200)
          throw fail('SERVICE_UNAVAILABLE', `The events of ${source} are not available: status ${String(response.status)}.`);
        return parseEvents(text, source);
      } finally {
        limited.end();
      }
    },
  };
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw fail('UPSTREAM_ERROR', `A page of events exceeds ${String(MAX_BYTES)} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Throws UPSTREAM_ERROR for anything but events of the source. */
function parseEvents(text: string, source: string): DomainEvent[] {
  try {
    const { events } = JSON.parse(text) as { events: unknown };
    if (Array.isArray(events) && events.every((event) => isDomainEvent(event) && event.source === source)) return events as DomainEvent[];
  } catch {
    // No JSON.
  }
  throw fail('UPSTREAM_ERROR', `The endpoint of ${source} did not return events.`);
}
