/** Starts the lookup of persisted and trusted documents of a graph, as its configuration describes it. */
import type { Config } from './config.ts';
import { type Documents, createDocuments } from './documents/documents.ts';
import { RemoteDocuments } from './documents/remote-documents.ts';
import type { TrustedDocuments } from './documents/trusted.ts';
import { createUnknownRecord } from './documents/unknown-documents.ts';
import type { Observers } from './shared-parts.ts';
import { createHiveDocuments } from './sources/hive-documents.ts';
import { watchTrustedDocuments } from './watch-documents.ts';

/** The documents of one graph. */
export interface StartedDocuments {
  /** Finds the text of a request. */
  readonly lookup: Documents;
  /** Returns the trusted documents of the last valid file; undefined where none are configured. */
  readonly readTrusted: () => TrustedDocuments | undefined;
  /** Stops to watch the file. */
  stopWatching(): void;
  /** Ends the lookups on Hive's CDN, once no request is in flight. */
  stop(): void;
}

/** Creates the lookup, and begins to watch the file of trusted documents. */
export function startDocuments(config: Config, observers: Observers): StartedDocuments {
  const trusted = watchTrustedDocuments({
    file: config.env['TRUSTED_DOCUMENTS_FILE'],
    initial: config.TRUSTED_DOCUMENTS_FILE,
    log: observers.log,
  });
  const remote = createHiveLookups(config, observers);
  const lookup = createDocuments({
    readTrusted: trusted.read,
    remote,
    isTrustedOnly: config.TRUSTED_DOCUMENTS_ONLY,
    keepsTexts: config.AUTOMATIC_PERSISTED_QUERIES,
    needsId: config.TRUSTED_DOCUMENTS_REQUIRE_ID,
    recordUnknown: config.TRUSTED_DOCUMENTS_LOG_UNKNOWN ? createUnknownRecord(observers) : undefined,
  });
  return {
    lookup,
    readTrusted: trusted.read,
    stopWatching: () => {
      trusted.stop();
    },
    stop: () => remote?.stop(),
  };
}

/** A document has the bound of one that a client sends. */
function createHiveLookups(config: Config, observers: Observers): RemoteDocuments | undefined {
  const { HIVE_DOCUMENTS_ENDPOINT: endpoints, HIVE_DOCUMENTS_KEY: key = '' } = config;
  if (endpoints.length === 0) return undefined;
  const { HIVE_DOCUMENTS_TIMEOUT_MS: timeoutMs, MAX_BODY_BYTES: maxBytes } = config;
  return new RemoteDocuments({ server: createHiveDocuments({ endpoints, key, timeoutMs, maxBytes }), ...observers });
}
