import { describe, expect, it } from '@jest/globals';
import {
  SUBGRAPH_NAMES,
  databaseSettingOf,
  eventsUrlSettingOf,
  eachSubgraph,
  portSettingOf,
  urlSettingOf,
} from '@trestle/schema/subgraphs';
import type { Config } from './config.ts';
import { planProcesses } from './processes.ts';
import { toSummary } from './summary.ts';

const portOf = eachSubgraph((name) => 3 + SUBGRAPH_NAMES.indexOf(name));
const config = {
  REST_PORT: 1,
  GATEWAY_PORT: 2,
  REGISTRY_PORT: 9,
  ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [portSettingOf(name), portOf[name]])),
  LOG_LEVEL: 'warn',
  DATA_DIR: '/data',
  DEMO_DATA: true,
  root: '/app',
  inherited: { PATH: '/bin', SUPERGRAPH_FILE: 'other.graphql' },
} as Partial<Config> as Config;
const keys = {
  privateKeyFile: 'private.pem',
  publicKeyFile: 'public.pem',
  clientIdKeyFile: 'client-id.key',
  eventsKeyFile: 'events.key',
  apiKeySecretFile: 'api-keys.secret',
  webhookKeyFile: 'webhooks.key',
  oauthKeyFile: 'oauth.key',
  registrySigningKeyFile: 'registry.key',
  registryPublicKeyFile: 'registry.public.pem',
};
const databaseUrls = { ...eachSubgraph((name) => `pg:${name}`), registry: 'pg:registry' };

describe('planProcesses', () => {
  it('passes to each process only the environment that it needs, and the secrets only to users', () => {
    const plans = planProcesses({ config, databaseUrls, keys }).flat();
    const shared = {
      PATH: '/bin',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      TOKEN_PUBLIC_KEY_FILE: 'public.pem',
      CLIENT_ID_KEY_FILE: 'client-id.key',
      DRAIN_DELAY_MS: '0',
      MALLOC_TRIM_THRESHOLD_: '4194304',
    };
    const withRevocations = { ...shared, REVOCATIONS_URL: 'http://127.0.0.1:3/revocations' };
    const atTheEdge = { ...withRevocations, API_KEY_EXCHANGE_URL: 'http://127.0.0.1:3/api-keys/exchange' };
    const secrets = {
      TOKEN_PRIVATE_KEY_FILE: 'private.pem',
      API_KEY_SECRET_FILE: 'api-keys.secret',
      WEBHOOK_KEY_FILE: 'webhooks.key',
      WEBHOOK_ALLOW_PRIVATE: 'on',
    };
    const oauth = { OAUTH_ISSUER: 'http://localhost:1', OAUTH_KEY_FILE: 'oauth.key', SECURE_COOKIES: 'off' };
    const eventUrls = Object.fromEntries(
      SUBGRAPH_NAMES.map((name) => [eventsUrlSettingOf(name), `http://127.0.0.1:${String(portOf[name])}/events`]),
    );
    const subgraphs = eachSubgraph((name) => ({
      ...(name === 'users' ? { ...shared, ...secrets, ...oauth, CONTENT_URL: 'http://127.0.0.1:5' } : withRevocations),
      ...(name !== 'orders' && { FILES_DIR: '/data/files' }),
      [portSettingOf(name)]: String(portOf[name]),
      [databaseSettingOf(name)]: `pg:${name}`,
      EVENTS_KEY_FILE: 'events.key',
      ...eventUrls,
    }));
    expect(Object.fromEntries(plans.map(({ name, env }) => [name, env]))).toEqual({
      ...subgraphs,
      registry: {
        ...shared,
        REGISTRY_PORT: '9',
        REGISTRY_DATABASE_URL: 'pg:registry',
        REGISTRY_SIGNING_KEY_FILE: 'registry.key',
        REGISTRY_SEED: 'on',
      },
      gateway: {
        ...atTheEdge,
        FORWARD_MUTATION_HEADERS: 'cookie,origin,user-agent',
        FORWARD_RESPONSE_HEADERS: 'set-cookie',
        GATEWAY_PORT: '2',
        SUPERGRAPH_FILE: 'other.graphql',
        ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), `http://127.0.0.1:${String(portOf[name])}/graphql`])),
      },
      'rest-bridge': {
        ...atTheEdge,
        REST_PORT: '1',
        GATEWAY_URL: 'http://127.0.0.1:2/graphql',
        USERS_URL: 'http://127.0.0.1:3',
        CONTENT_URL: 'http://127.0.0.1:5',
        PUBLIC_REGISTRY_URL: 'http://localhost:9/graphql',
      },
    });
  });

  it('passes one certificate to bridge and gateway, with which the bridge verifies the gateway', () => {
    const tls = { TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem' };
    const plans = planProcesses({ config: { ...config, inherited: tls }, databaseUrls, keys }).flat();
    const [gateway, bridge] = ['gateway', 'rest-bridge'].map((name) => plans.find((plan) => plan.name === name)?.env);
    expect(gateway).toMatchObject(tls);
    expect(bridge).toMatchObject({ ...tls, GATEWAY_URL: 'https://127.0.0.1:2/graphql', GATEWAY_CERT_FILE: 'cert.pem' });
    expect(plans.filter(({ env }) => 'TLS_KEY_FILE' in env)).toHaveLength(2);
  });

  it('passes GRAPHQL_PATH to the gateway, and to the bridge as the path of GATEWAY_URL', () => {
    const inherited = { GRAPHQL_PATH: '/api/query' };
    const started = { credentials: undefined, postgresPort: undefined };
    const options = { config: { ...config, inherited }, databaseUrls, keys };
    const plans = planProcesses(options).flat();
    const [gateway, bridge] = ['gateway', 'rest-bridge'].map((name) => plans.find((plan) => plan.name === name)?.env);
    expect(gateway).toMatchObject(inherited);
    expect(bridge).toMatchObject({ GATEWAY_URL: 'http://127.0.0.1:2/api/query' });
    expect(toSummary({ config: options.config, started, seconds: 1 })).toContain('http://localhost:2/api/query');
  });

  it('gives the gateway its own public address, to which it adds its path', () => {
    for (const [path, address] of [
      [undefined, 'https://graphql.example.com/graphql'],
      ['/api/query', 'https://graphql.example.com/api/query'],
      ['/', 'https://graphql.example.com/'],
    ] as const) {
      const inherited = { PUBLIC_URL: 'https://api.example.com', PUBLIC_GATEWAY_URL: address, ...(path && { GRAPHQL_PATH: path }) };
      const plans = planProcesses({ config: { ...config, inherited }, databaseUrls, keys }).flat();
      expect(plans.find(({ name }) => name === 'gateway')?.env).toMatchObject({ PUBLIC_URL: 'https://graphql.example.com' });
      expect(plans.find(({ name }) => name === 'rest-bridge')?.env).toMatchObject({ PUBLIC_GATEWAY_URL: address });
    }
  });

  it('starts the subgraphs and the registry, then the gateway, then the bridge', () => {
    const groups = planProcesses({ config, databaseUrls, keys });
    expect(groups.map((group) => group.map(({ name }) => name))).toEqual([[...SUBGRAPH_NAMES, 'registry'], ['gateway'], ['rest-bridge']]);
    expect(groups[0]?.[0]?.args).toEqual(['--env-file=/app/packages/service/node.env', '/app/subgraphs/users/dist/bundle/main.js']);
    const [users] = planProcesses({ config: { ...config, isDevelopment: true }, databaseUrls, keys }).flat();
    expect(users?.args[1]).toBe('/app/subgraphs/users/dist/main.js');
  });
});
