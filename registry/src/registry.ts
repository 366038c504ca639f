/** Puts the registry together: its API, its endpoints, and what runs beside them. */
import type { KeyObject } from 'node:crypto';
import type { Database } from '@trestle/chassis/database/database';
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { CreateId } from '@trestle/chassis/values/ids';
import type { Log } from '@trestle/log';
import { Counter, type Registry as Metrics } from 'prom-client';
import type { Registry } from './api/context.ts';
import { ENVIRONMENTS_PATH, createArtifactEndpoint } from './artifact/artifact-endpoint.ts';
import { HIVE_PATH, createHiveEndpoint } from './artifact/hive-endpoint.ts';
import { createReleaseWatch } from './artifact/release-watch.ts';
import { UPLINK_PATH, createUplinkEndpoint } from './artifact/uplink-endpoint.ts';
import { createComposer } from './composition/composer.ts';
import { createTurns } from './composition/turns.ts';
import { createStore } from './store.ts';
import type { CheckDefaults } from './usage/recorded-usage.ts';
import { USAGE_PATH, createUsageEndpoint } from './usage/usage-endpoint.ts';

/** How many publishes may wait in one process. */
const MAX_WAITING = 50;

/** What the registry is created from. */
export interface RegistryOptions {
  readonly database: Database;
  readonly signingKey: KeyObject;
  readonly createId: CreateId;
  /** How checks look at usage. */
  readonly checkDefaults: CheckDefaults;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** A registry that runs. */
export interface RunningRegistry {
  readonly registry: Registry;
  /** By the beginning of their paths. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Ends long polls. Called before the requests in flight are waited for. */
  endWaits(): void;
  /** Ends the threads of composition. */
  close(): Promise<void>;
}

/** Creates the registry. */
export function createRegistry({ database, signingKey, createId, checkDefaults, metrics, log }: RegistryOptions): RunningRegistry {
  const store = createStore(database.query);
  const [composer, checkComposer] = [createComposer(), createComposer()];
  const watch = createReleaseWatch(store, log);
  const releases = new Counter({
    name: 'trestle_registry_releases_total',
    help: 'Releases that this process has made, by action.',
    labelNames: ['action'],
    registers: [metrics],
  });
  const registry: Registry = {
    database,
    composer,
    checkComposer,
    createId,
    checkDefaults,
    now: Date.now,
    takeTurn: createTurns(MAX_WAITING),
    onRelease: ({ environment, number, action, launchId }) => {
      releases.inc({ action });
      log.info(`released ${environment} ${String(number)}`, { hash: launchId });
      watch.notify(environment);
    },
  };
  const endpoints = {
    [ENVIRONMENTS_PATH]: createArtifactEndpoint({ store, watch, signingKey, log }),
    [HIVE_PATH]: createHiveEndpoint(store, log),
    [UPLINK_PATH]: createUplinkEndpoint(store, log),
    [USAGE_PATH]: createUsageEndpoint({ store, database, metrics, now: Date.now, log }),
  };
  return {
    registry,
    endpoints,
    endWaits: () => {
      watch.stop();
    },
    close: async () => {
      await Promise.all([composer.close(), checkComposer.close()]);
    },
  };
}
