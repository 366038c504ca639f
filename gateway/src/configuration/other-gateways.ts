/** Sections of other gateways' configuration files, for users who bring one along (docs/gateway/from-apollo-router.md). No I/O. */

const SETTINGS: ReadonlyMap<string, string> = new Map([
  ['apq', 'automatic persisted queries are always on'],
  ['batching', 'the setting here is `limits.maxBatch`'],
  ['coprocessor', 'the setting here is `extensions.coprocessor`'],
  ['cors', 'the settings here are `server.corsOrigins` and others of `server`'],
  ['csrf', 'requests that skip a preflight are always refused'],
  ['health_check', 'the settings here are `server.livenessPath` and `server.readinessPath`, besides `/livez` and `/readyz`'],
  ['homepage', 'the setting here is `server.graphiql`'],
  ['include_subgraph_errors', 'the setting here is `errors.show`'],
  ['override_subgraph_url', 'the setting here is `subgraphs.<name>.url`'],
  ['persisted_queries', 'the settings here are in `documents`'],
  ['preview_entity_cache', 'the settings here are in `responseCache`'],
  ['response_cache', 'the settings here are in `responseCache`'],
  ['rhai', 'the setting here is `extensions.file`'],
  ['sandbox', 'the setting here is `server.graphiql`'],
  ['subscription', 'the settings here are in `subscriptions`'],
  ['tls', 'the settings here are `server.tls` and `traffic.tls`'],
  ['traffic_shaping', 'the settings here are in `traffic`'],
]);

/** Returns what a section of Apollo Router is here, as the end of a sentence; undefined for other names. */
export function findOtherGateway(section: string): string | undefined {
  const found = SETTINGS.get(section);
  return found === undefined ? undefined : `; it is a section of Apollo Router: ${found}`;
}
