/** The settings of processes that the public reaches: whose word they take for a client's address, and which browsers they serve. */
import { type readSettings, setting } from '@trestle/env';
import { type Edge, type EdgeOptions, createEdge } from './edge.ts';
import { parseOrigins } from './origin-list.ts';
import { NO_PROXIES, parseTrustedProxies } from '../clients/trusted-proxies.ts';

/** The settings of {@link toEdge}, by the name of their environment variable. */
export const edgeSettings = {
  TRUSTED_PROXIES: setting.parsed(parseTrustedProxies, 'list').default(NO_PROXIES),
  CORS_ORIGINS: setting.parsed(parseOrigins, 'list').default([]),
};

/** The values of {@link edgeSettings}. */
export type EdgeSettings = ReturnType<typeof readSettings<typeof edgeSettings>>;

/** What a process adds to its settings. */
export interface EdgeProcess extends Pick<EdgeOptions, 'allowsCredentials' | 'maxAgeSeconds'> {
  /** The addresses by which clients know the process. */
  readonly publicUrls: readonly (string | undefined)[];
  readonly methods: readonly string[];
  readonly requestHeaders?: readonly string[];
  readonly responseHeaders?: readonly string[];
}

/** Creates the public side of a process. */
export function toEdge({ TRUSTED_PROXIES: proxies, CORS_ORIGINS: origins }: EdgeSettings, process: EdgeProcess): Edge {
  return createEdge({ ...process, proxies, origins });
}
