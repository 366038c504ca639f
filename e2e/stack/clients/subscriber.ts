/** One subscription on a WebSocket of its own, as graphql-ws' own client speaks it; keeps what comes. */
import { type FormattedExecutionResult, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { until } from './client.ts';

export interface SubscribeOptions {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly token?: string | undefined;
  /** `extensions.resume` of the message. */
  readonly resume?: unknown;
  readonly connectionParams?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

export interface Subscriber {
  readonly results: FormattedExecutionResult<Record<string, unknown>, { position?: string }>[];
  /** How it ended; undefined while it goes on. */
  readonly ending: () => Ending | undefined;
  /** Gives the results once there are as many. */
  wait(count: number): Promise<Subscriber['results']>;
  /** How it ended, once it has. */
  end(): Promise<Ending>;
  stop(): Promise<void>;
}

export interface Ending {
  /** The codes of an `error` message. */
  readonly codes?: readonly unknown[];
  /** The code with which the socket was closed. */
  readonly close?: number;
}

/** `url` is that of the process. */
export function subscribeTo(
  url: string,
  { query, variables, token, resume, connectionParams, headers = {} }: SubscribeOptions,
): Subscriber {
  class Socket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: Socket,
    connectionParams: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...connectionParams },
    retryAttempts: 0,
    onNonLazyError: () => undefined,
  });
  const results: Subscriber['results'] = [];
  const state: { ending?: Ending } = {};
  client.subscribe<Record<string, unknown>, { position?: string }>(
    { query, ...(variables && { variables }), ...(resume !== undefined && { extensions: { resume } }) },
    {
      next: (result) => results.push(result),
      error: (error) => (state.ending = toEnding(error)),
      complete: () => (state.ending ??= {}),
    },
  );
  return {
    results,
    ending: () => state.ending,
    async wait(count) {
      await until(() => {
        if (state.ending && results.length < count) throw new Error(`The subscription has ended: ${JSON.stringify(state.ending)}`);
        return Promise.resolve(results.length >= count);
      });
      return results;
    },
    async end() {
      await until(() => Promise.resolve(state.ending !== undefined));
      return state.ending ?? {};
    },
    async stop() {
      await client.dispose();
    },
  };
}

function toEnding(error: unknown): Ending {
  if (Array.isArray(error)) return { codes: error.map(({ extensions }: { extensions?: { code?: unknown } }) => extensions?.code) };
  const { code } = error as { code?: number };
  return code === undefined ? {} : { close: code };
}
