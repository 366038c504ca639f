/** Compares the settings that `npm start` passes on with those that each process reads in its config.ts. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES, databaseSettingOf, eventsUrlSettingOf, eachSubgraph, portSettingOf } from '@trestle/schema/subgraphs';
import { readConfig } from './config.ts';
import { planProcesses } from './processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Returns the settings that a folder reads itself, without those of the packages that it uses. */
const settingsOf = (folder: string) =>
  [
    `${folder}/src/config.ts`,
    `${folder}/src/settings.ts`,
    `${folder}/src/configuration/settings/settings.ts`,
    `${folder}/src/configuration/settings/limit-settings.ts`,
    `${folder}/src/configuration/settings/coprocessor-settings.ts`,
  ]
    .filter((path) => existsSync(root + path))
    .flatMap((path) => [...readFileSync(root + path, 'utf8').matchAll(/(?:^|[{,]) *([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? ''));

describe('npm start', () => {
  /** Settings that `npm start` sets itself for each process, or passes to none; the comments in .env.example say so. */
  const OWN = new Set([
    ...[
      'HOST',
      'PORT',
      'METRICS_PORT',
      'TRESTLE_CONFIG',
      'LOG_LEVEL',
      'LOG_FORMAT',
      'GATEWAY_URL',
      'GATEWAY_CERT_FILE',
      'REST_PORT',
      'GATEWAY_PORT',
    ],
    ...['TOKEN_PRIVATE_KEY_FILE', 'TOKEN_PUBLIC_KEY_FILE', 'TOKEN_JWKS_URL', 'CLIENT_ID_KEY_FILE', 'REVOCATIONS_URL'],
    ...['EVENTS_KEY_FILE', 'API_KEY_SECRET_FILE', 'API_KEY_EXCHANGE_URL', 'SECURE_COOKIES', 'WEBHOOK_KEY_FILE'],
    ...['OAUTH_ISSUER', 'OAUTH_KEY_FILE', 'USERS_URL', 'CONTENT_URL'],
    ...['REGISTRY_PORT', 'REGISTRY_DATABASE_URL', 'REGISTRY_SIGNING_KEY_FILE', 'REGISTRY_SEED'],
    ...['SUPERGRAPH_SOURCE', 'SUPERGRAPH_URL', 'SUPERGRAPH_POLL_INTERVAL_MS', 'SUPERGRAPH_TIMEOUT_MS', 'SUPERGRAPH_MAX_BYTES'],
    ...[
      'HIVE_CDN_ENDPOINT',
      'HIVE_CDN_KEY',
      'HIVE_ACCESS_TOKEN',
      'HIVE_TARGET',
      'HIVE_USAGE_ENDPOINT',
      'HIVE_USAGE_SAMPLE_RATE',
      'APOLLO_UPLINK_ENDPOINTS',
      'APOLLO_GRAPH_REF',
      'APOLLO_KEY',
      'APOLLO_USAGE_REPORTS',
      'APOLLO_USAGE_REPORTING_INGRESS_URL',
    ],
    ...SUBGRAPH_NAMES.flatMap((name) => [portSettingOf(name), databaseSettingOf(name), eventsUrlSettingOf(name)]),
  ]);
  /** Packages whose settings every process has. */
  const SHARED = ['packages/service', 'packages/identity'];
  /** Processes that keep files. */
  const KEEPS_FILES = ['subgraphs/users', 'subgraphs/content'];
  const readBy = (folder: string) =>
    new Set(
      [
        folder,
        ...SHARED,
        ...(folder.startsWith('subgraphs/') ? ['subgraphs/chassis'] : []),
        ...(KEEPS_FILES.includes(folder) ? ['packages/files'] : []),
      ]
        .flatMap((each) => settingsOf(each))
        .filter((name) => !OWN.has(name)),
    );
  const marked = (names: Iterable<string>) => Object.fromEntries([...names].map((name) => [name, `marked:${name}`]));
  const planWith = (env: Record<string, string>) =>
    planProcesses({
      config: readConfig(env),
      databaseUrls: { ...eachSubgraph(() => ''), registry: '' },
      keys: {
        privateKeyFile: '',
        publicKeyFile: '',
        clientIdKeyFile: '',
        eventsKeyFile: '',
        apiKeySecretFile: '',
        oauthKeyFile: '',
        webhookKeyFile: '',
        registrySigningKeyFile: '',
        registryPublicKeyFile: '',
      },
    }).flat();

  it('passes each setting on to every process that reads it, and to no other', () => {
    const folders = {
      gateway: 'gateway',
      registry: 'registry',
      'rest-bridge': 'rest-bridge',
      ...eachSubgraph((name) => `subgraphs/${name}`),
    };
    const all = new Set(Object.values(folders).flatMap((folder) => [...readBy(folder)]));
    for (const { name, env } of planWith(marked(all))) {
      const expected = marked(readBy(folders[name as keyof typeof folders]));
      // PUBLIC_URL is the bridge's URL. Subgraphs and the registry have no certificate and do not redirect.
      if (name !== 'rest-bridge') delete expected['PUBLIC_URL'];
      if (name === 'gateway') expected['PUBLIC_URL'] = 'marked:PUBLIC_GATEWAY_URL';
      // The bridge calls the gateway at 127.0.0.1, which a certificate need not name.
      if (name === 'rest-bridge') expected['GATEWAY_CERT_FILE'] = 'marked:TLS_CERT_FILE';
      const passed = Object.fromEntries(Object.entries(env).filter(([, value]) => value.startsWith('marked:')));
      expect([name, passed]).toEqual([name, expected]);
    }
  });

  it("gives the bridge the registry's address for its page, unless the bridge has a public address", () => {
    const linkOf = (env: Record<string, string>) => planWith(env).find(({ name }) => name === 'rest-bridge')?.env['PUBLIC_REGISTRY_URL'];
    expect(linkOf({ REGISTRY_PORT: '4105' })).toBe('http://localhost:4105/graphql');
    expect(linkOf({ PUBLIC_URL: 'https://api.example.com' })).toBeUndefined();
    expect(linkOf({ PUBLIC_REGISTRY_URL: 'https://registry.example.com/graphql' })).toBe('https://registry.example.com/graphql');
  });

  it('passes settings of single subgraphs only to the gateway, also those of unknown subgraphs', () => {
    const given = {
      SUBGRAPH_URL_USERS: 'http://a/',
      SUBGRAPH_ERRORS_OTHER: 'pass',
      SUBGRAPH_URL_OTHER: 'http://b/',
      SUBGRAPH_WS_URL_OTHER: 'ws://b/',
    };
    const plans = planWith(given);
    expect(plans.find(({ name }) => name === 'gateway')?.env).toMatchObject(given);
    for (const { name, env } of plans)
      if (name !== 'gateway') expect(Object.keys(env).filter((each) => each.startsWith('SUBGRAPH_'))).toEqual([]);
  });
});
