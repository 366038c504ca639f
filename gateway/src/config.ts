/** The settings of the gateway's process. */
import { readFamily, readSettings, setting } from '@trestle/env';
import { LOG_LEVELS } from '@trestle/log';
import { schemaPath } from '@trestle/schema/sdl';

export function readConfig() {
  const settings = readSettings(
    {
      GATEWAY_PORT: setting.port().default(4000),
      HOST: setting.text().default('127.0.0.1'),
      LOG_LEVEL: setting.choice(...LOG_LEVELS).default('info'),
      SUPERGRAPH_FILE: setting.text().default(schemaPath('supergraph.graphql')),
      SUBGRAPH_TIMEOUT_MS: setting.integer(100, 300_000).default(10_000),
      TOKEN_PUBLIC_KEY_FILE: setting.file(),
    },
    process.env,
  );
  return { ...settings, subgraphUrls: readFamily('SUBGRAPH_URL_', process.env) };
}

/** @apollo/gateway reports to its vendor every hour unless its environment says no before it is made. */
export function silenceVendorTelemetry(): void {
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
}
