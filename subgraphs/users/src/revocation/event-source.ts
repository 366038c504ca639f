/** Reads revoked tokens from the table of events, whichever process wrote them (ADR 10). */
import { setTimeout as delay } from 'node:timers/promises';
import { selectEvents } from '@trestle/chassis/events/outbox/event-selection';
import type { Events } from '@trestle/chassis/events/source-streams/events';
import {
  FOREIGN_USER_PATTERN,
  REVOCATION_SECONDS,
  type Revocation,
  type Revocations,
  readRevocation,
} from '@trestle/identity/revocations/revocations';
import type { Log } from '@trestle/log';

/** The topic of the events that triggers write. */
const TOPIC = 'tokensRevoked';
const RETRY_MS = 500;

export interface RevocationSourceOptions {
  readonly events: Pick<Events, 'open' | 'recent'>;
  readonly revocations: Pick<Revocations, 'add'>;
  /** For how many seconds the revocations of tokens of other issuers are kept. */
  readonly foreignSeconds: number;
  readonly log: Log;
  /** Called when all revocations are known whose tokens have not expired. */
  readonly onComplete: () => void;
}

/** Adds revocations as they are written, until the returned function is called. */
export function readRevocations({ events, revocations, foreignSeconds, log, onComplete }: RevocationSourceOptions): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;

  const add = (revocation: Revocation | undefined) => {
    if (revocation) revocations.add(revocation);
  };

  async function readUntilLost(): Promise<void> {
    const stream = events.open(selectEvents(TOPIC));
    const stop = () => {
      stream.stop();
    };
    signal.addEventListener('abort', stop);
    try {
      await stream.start();
      // Read after the stream has started: an event in between is read twice rather than never.
      for (const event of await events.recent(TOPIC, REVOCATION_SECONDS)) add(toRevocation(event));
      if (foreignSeconds > REVOCATION_SECONDS)
        for (const event of await events.recent(TOPIC, foreignSeconds, FOREIGN_USER_PATTERN)) add(toRevocation(event));
      onComplete();
      for (let next = await stream.next(); next; next = await stream.next()) add(next.row as Revocation | undefined);
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await readUntilLost().catch((error: unknown) => {
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

/** Converts an event whose `data` is `{tokenId}`, `{sessionId}` or `{generation}`. Returns undefined for any other data. */
export function toRevocation({ subject, data }: { readonly subject: string; readonly data: object }): Revocation | undefined {
  return readRevocation({ userId: subject, ...data });
}
