/** Decides where the supergraph comes from, and checks that the settings of this source are complete. */
import type { KeyObject } from 'node:crypto';
import { findFault, readFamily } from '@trestle/env';
import { mayRequest } from '../headers/header-names.ts';
import { ENTRIES } from './entries/entries.ts';
import type { AddFault, FileSettingName } from './entries/entry.ts';
import { type SOURCES, sourceHeader } from './settings/settings.ts';

/** How a source that is not a file is read. */
export interface PollingSettings {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Where the last supergraph is kept; undefined when it is not. */
  readonly cacheFile: string | undefined;
}

/** A source that is polled. */
export type RemoteSource =
  | { readonly kind: 'url'; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly polling: PollingSettings }
  | {
      readonly kind: 'registry';
      readonly url: string;
      readonly environment: string;
      /** Undefined for the whole graph. */
      readonly contract: string | undefined;
      readonly token: string;
      readonly publicKey: KeyObject;
      readonly polling: PollingSettings;
    }
  | { readonly kind: 'hive'; readonly endpoints: readonly string[]; readonly key: string; readonly polling: PollingSettings }
  | {
      readonly kind: 'uplink';
      readonly endpoints: readonly string[];
      readonly graphRef: string;
      readonly key: string;
      readonly polling: PollingSettings;
    };

/** The pause between two long polls. */
const LONG_POLL_PAUSE_MS = 1000;

/** Where the supergraph comes from. */
export type SourceSettings = { readonly kind: 'file'; readonly file: string } | RemoteSource;

/** The settings of all sources, by the names of their environment variables. */
export interface SourceValues {
  readonly SUPERGRAPH_PATH?: string | undefined;
  readonly SUPERGRAPH_FILE?: string | undefined;
  readonly SUPERGRAPH_SOURCE?: (typeof SOURCES)[number] | undefined;
  readonly SUPERGRAPH_URL?: string | undefined;
  readonly SUPERGRAPH_POLL_INTERVAL_MS: number;
  readonly SUPERGRAPH_TIMEOUT_MS: number;
  readonly SUPERGRAPH_MAX_BYTES: number;
  readonly SUPERGRAPH_CACHE_FILE?: string | undefined;
  readonly REGISTRY_URL?: string | undefined;
  readonly REGISTRY_ENVIRONMENT: string;
  readonly REGISTRY_CONTRACT?: string | undefined;
  readonly REGISTRY_TOKEN?: string | undefined;
  readonly REGISTRY_PUBLIC_KEY_FILE?: KeyObject | undefined;
  readonly HIVE_CDN_ENDPOINT: readonly string[];
  readonly HIVE_CDN_KEY?: string | undefined;
  readonly APOLLO_UPLINK_ENDPOINTS: readonly string[];
  readonly APOLLO_GRAPH_REF?: string | undefined;
  readonly APOLLO_KEY?: string | undefined;
}

export interface ChoiceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Adds a fault of an environment variable, or of the setting in the file that stands for it. */
  readonly addFault: AddFault;
  /** Returns the supergraph that is served when no source is configured; undefined after it has added a fault. */
  readonly findDefault: () => string | undefined;
}

/** Returns the source; undefined after a fault. A file on the command line is preferred to any source in the configuration. */
export function chooseSource(values: SourceValues, options: ChoiceOptions): SourceSettings | undefined {
  if (values.SUPERGRAPH_PATH !== undefined) return { kind: 'file', file: values.SUPERGRAPH_PATH };
  const configured = findConfigured(values);
  const { SUPERGRAPH_SOURCE: chosen } = values;
  if (chosen === undefined && configured.length > 1) {
    for (const kind of configured.slice(1))
      options.addFault(NAMES[kind], `is one source too many beside ${configured[0] ?? ''}; choose one with supergraph.source`);
    return undefined;
  }
  const kind = chosen ?? configured[0];
  if (kind === undefined) {
    const file = options.findDefault();
    return file === undefined ? undefined : { kind: 'file', file };
  }
  return READERS[kind](values, options);
}

type Kind = (typeof SOURCES)[number];

/** The setting without which there is no such source. */
const NAMES = {
  file: 'SUPERGRAPH_FILE',
  url: 'SUPERGRAPH_URL',
  registry: 'REGISTRY_URL',
  hive: 'HIVE_CDN_ENDPOINT',
  uplink: 'APOLLO_GRAPH_REF',
} as const satisfies Record<Kind, FileSettingName>;

function findConfigured(values: SourceValues): Kind[] {
  return (Object.keys(NAMES) as Kind[]).filter((kind) => {
    const value = values[NAMES[kind]];
    return value !== undefined && value.length > 0;
  });
}

const READERS: Readonly<Record<Kind, (values: SourceValues, options: ChoiceOptions) => SourceSettings | undefined>> = {
  file: ({ SUPERGRAPH_FILE: file }, { addFault }) => {
    if (file !== undefined) return { kind: 'file', file };
    addMissing(addFault, 'SUPERGRAPH_FILE', 'SUPERGRAPH_SOURCE');
    return undefined;
  },
  url: (values, { addFault, env }) => {
    const { SUPERGRAPH_URL: url } = values;
    if (url !== undefined) return { kind: 'url', url, headers: readHeaders(env, addFault), polling: toPolling(values) };
    addMissing(addFault, 'SUPERGRAPH_URL', 'SUPERGRAPH_SOURCE');
    return undefined;
  },
  registry: (values, { addFault }) => {
    const { REGISTRY_URL: url, REGISTRY_TOKEN: token, REGISTRY_PUBLIC_KEY_FILE: publicKey } = values;
    if (url === undefined) addMissing(addFault, 'REGISTRY_URL', 'SUPERGRAPH_SOURCE');
    else if (token === undefined) addMissing(addFault, 'REGISTRY_TOKEN', 'REGISTRY_URL');
    else if (publicKey === undefined) addMissing(addFault, 'REGISTRY_PUBLIC_KEY_FILE', 'REGISTRY_URL');
    else {
      const { REGISTRY_ENVIRONMENT: environment, REGISTRY_CONTRACT: contract } = values;
      return { kind: 'registry', url, environment, contract, token, publicKey, polling: toLongPolling(values) };
    }
    return undefined;
  },
  hive: (values, { addFault }) => {
    const { HIVE_CDN_ENDPOINT: endpoints, HIVE_CDN_KEY: key } = values;
    if (endpoints.length === 0) addMissing(addFault, 'HIVE_CDN_ENDPOINT', 'SUPERGRAPH_SOURCE');
    else if (key === undefined) addMissing(addFault, 'HIVE_CDN_KEY', 'HIVE_CDN_ENDPOINT');
    else return { kind: 'hive', endpoints, key, polling: toPolling(values) };
    return undefined;
  },
  uplink: (values, { addFault }) => {
    const { APOLLO_UPLINK_ENDPOINTS: endpoints, APOLLO_GRAPH_REF: graphRef, APOLLO_KEY: key } = values;
    if (graphRef === undefined) addMissing(addFault, 'APOLLO_GRAPH_REF', 'SUPERGRAPH_SOURCE');
    else if (key === undefined) addMissing(addFault, 'APOLLO_KEY', 'APOLLO_GRAPH_REF');
    else return { kind: 'uplink', endpoints, graphRef, key, polling: toPolling(values) };
    return undefined;
  },
};

/** Reports a missing setting at the place of the one that needs it. */
function addMissing(addFault: AddFault, missing: FileSettingName, because: FileSettingName): void {
  addFault(because, `needs ${ENTRIES[missing].path} (${missing}) beside it`, missing);
}

function toPolling(values: SourceValues): PollingSettings {
  return {
    intervalMs: values.SUPERGRAPH_POLL_INTERVAL_MS,
    timeoutMs: values.SUPERGRAPH_TIMEOUT_MS,
    maxBytes: values.SUPERGRAPH_MAX_BYTES,
    cacheFile: values.SUPERGRAPH_CACHE_FILE,
  };
}

/** The registry answers a poll when there is something new, so that the next poll need not wait for the interval. */
function toLongPolling(values: SourceValues): PollingSettings {
  return { ...toPolling(values), intervalMs: Math.min(values.SUPERGRAPH_POLL_INTERVAL_MS, LONG_POLL_PAUSE_MS) };
}

/** Names have no case. The environment is later in `env` than the file, and takes precedence. */
function readHeaders(env: ChoiceOptions['env'], addFault: AddFault): Record<string, string> {
  const { prefix, reader } = sourceHeader;
  const headers: Record<string, string> = {};
  for (const [suffix, value] of readFamily(prefix, env)) {
    const name = suffix.replaceAll('_', '-');
    const fault = mayRequest(name) ? findFault(reader, value) : 'must end with the name of a header that may be sent';
    if (fault === undefined) headers[name] = value;
    else addFault(`${prefix}${suffix.toUpperCase()}`, fault);
  }
  return headers;
}
