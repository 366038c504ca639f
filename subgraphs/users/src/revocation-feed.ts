/** Learns of revoked tokens from the table of events, whichever process or hand has written them (ADR 10). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Events } from '@trestle/chassis/events/events';
import { listenTo } from '@trestle/chassis/events/listening';
import { REVOCATION_SECONDS, type Revocation, type Revocations, readRevocation } from '@trestle/identity/revocations';
import type { Log } from '@trestle/log';

/** As the triggers write it. */
const TOPIC = 'tokensRevoked';
const RETRY_MS = 500;

export interface RevocationFeedOptions {
  readonly events: Pick<Events, 'open' | 'recent'>;
  readonly revocations: Pick<Revocations, 'add'>;
  readonly log: Log;
  /** All are known that matter still. */
  readonly onKnown: () => void;
}

/** Gives how to stop it. */
export function followRevocations({ events, revocations, log, onKnown }: RevocationFeedOptions): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;

  const add = (revocation: Revocation | undefined) => {
    if (revocation) revocations.add(revocation);
  };

  async function follow(): Promise<void> {
    const stream = events.open(listenTo(TOPIC));
    const stop = () => {
      stream.stop();
    };
    signal.addEventListener('abort', stop);
    try {
      await stream.start();
      // Read once the stream runs: what happens meanwhile is learnt twice rather than never.
      for (const event of await events.recent(TOPIC, REVOCATION_SECONDS)) add(toRevocation(event));
      onKnown();
      for (let next = await stream.next(); next; next = await stream.next()) add(next.row as Revocation | undefined);
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!signal.aborted) log.error('token revocations cannot be read', { error });
      });
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  void run();
  return () => {
    stopping.abort();
  };
}

/** The event's `data` is `{tokenId}` or `{generation}`; whatever else somebody wrote there by hand revokes nothing. */
export function toRevocation({ entityId, data }: { readonly entityId: string; readonly data: object }): Revocation | undefined {
  return readRevocation({ userId: entityId, ...data });
}
