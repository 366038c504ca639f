/** One connection that LISTENs for new events, made when first needed and made again whenever it is lost. What is new is for its owner to read. */
import type { Log } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import pg from 'pg';
import type { Query } from '../database/query.ts';

const CONNECT_MS = 3000;
const QUERY_MS = 5000;
/** How often it is looked whether there is anything new without being told: what a connection that died in silence is found by. */
const LOOK_MS = 5000;
const BACKOFF_MS = { first: 50, most: 1000 };
/** How long listeners are left waiting for a database that can't be reached. */
const PATIENCE_MS = 10_000;
const FAREWELL_MS = 1000;

export interface EventFeedOptions {
  readonly url: string;
  readonly log: Log;
  /** Reads what is new; called again and again, never twice at a time. */
  readonly read: (query: Query) => Promise<void>;
  /** The database can't be reached for so long that nobody should wait any more. */
  readonly onLost: (error: Error) => void;
  readonly patienceMs?: number;
}

export interface EventFeed {
  /** Resolves when everything has been read that was committed before the call. Rejects with SERVICE_UNAVAILABLE. */
  readonly catchUp: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function createEventFeed({ url, log, read, onLost, patienceMs = PATIENCE_MS }: EventFeedOptions): EventFeed {
  const waiting: Waiter[] = [];
  const state = { isClosed: false, isNew: false, isLost: false, backoffMs: BACKOFF_MS.first };
  let wake: () => void = () => undefined;
  let running: Promise<void> | undefined;
  let patience: NodeJS.Timeout | undefined;

  const stir = () => {
    state.isNew = true;
    wake();
  };
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const lose = () => {
    state.isLost = true;
    const error = fail('SERVICE_UNAVAILABLE', 'Events can not be read at the moment', { retryAfterSeconds: 1 });
    for (const { reject } of waiting.splice(0)) reject(error);
    onLost(error);
  };
  const onFailure = (error: unknown) => {
    if (state.isClosed) return;
    log.error('live events are interrupted', { error });
    if (state.isLost) lose();
    else patience ??= setTimeout(lose, patienceMs).unref();
  };
  const onSuccess = () => {
    clearTimeout(patience);
    patience = undefined;
    Object.assign(state, { isLost: false, backoffMs: BACKOFF_MS.first });
  };

  /** Reads on until the connection fails or is no longer wanted. */
  async function follow(): Promise<void> {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS, keepAlive: true });
    const connection: { failure?: Error } = {};
    const query: Query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows;
    client.on('error', (error) => {
      connection.failure = error;
      stir();
    });
    client.on('notification', stir);
    try {
      await client.connect();
      await client.query('LISTEN trestle_events');
      while (!state.isClosed) {
        if (connection.failure) throw connection.failure;
        state.isNew = false;
        const due = waiting.splice(0);
        await read(query).catch((error: unknown) => {
          waiting.unshift(...due);
          throw error;
        });
        onSuccess();
        for (const { resolve } of due) resolve();
        // It may have become new while it was read.
        if (!(state.isNew as boolean)) await sleep(LOOK_MS);
      }
    } finally {
      const gone = client.end().catch(() => undefined);
      await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, FAREWELL_MS).unref())]);
    }
  }

  async function run(): Promise<void> {
    while (!state.isClosed) {
      await follow().catch(onFailure);
      await new Promise((resolve) => setTimeout(resolve, state.backoffMs));
      state.backoffMs = Math.min(state.backoffMs * 2, BACKOFF_MS.most);
    }
  }

  return {
    catchUp: () =>
      new Promise((resolve, reject) => {
        if (state.isClosed) {
          reject(fail('SERVICE_UNAVAILABLE', 'The service is stopping', { retryAfterSeconds: 1 }));
          return;
        }
        waiting.push({ resolve, reject });
        stir();
        running ??= run();
      }),
    async close() {
      state.isClosed = true;
      clearTimeout(patience);
      for (const { reject } of waiting.splice(0)) reject(fail('SERVICE_UNAVAILABLE', 'The service is stopping', { retryAfterSeconds: 1 }));
      wake();
      await running;
    },
  };
}
