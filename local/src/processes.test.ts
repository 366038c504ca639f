import { describe, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES, databaseSettingOf, eachSubgraph, portSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import type { Config } from './config.ts';
import { planProcesses } from './processes.ts';

const portOf = eachSubgraph((name) => 3 + SUBGRAPH_NAMES.indexOf(name));
const config = {
  REST_PORT: 1,
  GATEWAY_PORT: 2,
  ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [portSettingOf(name), portOf[name]])),
  LOG_LEVEL: 'warn',
  root: '/app',
  inherited: { PATH: '/bin', SUPERGRAPH_FILE: 'other.graphql' },
} as Partial<Config> as Config;
const keys = { privateKeyFile: 'private.pem', publicKeyFile: 'public.pem', clientIdKeyFile: 'client-id.key' };
const databaseUrls = eachSubgraph((name) => `pg:${name}`);

describe('planProcesses', () => {
  it('passes to each process only the environment that it needs, and the private key only to users', () => {
    const plans = planProcesses({ config, databaseUrls, keys }).flat();
    const shared = {
      PATH: '/bin',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      TOKEN_PUBLIC_KEY_FILE: 'public.pem',
      CLIENT_ID_KEY_FILE: 'client-id.key',
      DRAIN_DELAY_MS: '0',
    };
    const withRevocations = { ...shared, REVOCATIONS_URL: 'http://127.0.0.1:3/revocations' };
    const subgraphs = eachSubgraph((name) => ({
      ...(name === 'users' ? { ...shared, TOKEN_PRIVATE_KEY_FILE: 'private.pem' } : withRevocations),
      [portSettingOf(name)]: String(portOf[name]),
      [databaseSettingOf(name)]: `pg:${name}`,
    }));
    expect(Object.fromEntries(plans.map(({ name, env }) => [name, env]))).toEqual({
      ...subgraphs,
      gateway: {
        ...withRevocations,
        GATEWAY_PORT: '2',
        SUPERGRAPH_FILE: 'other.graphql',
        ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), `http://127.0.0.1:${String(portOf[name])}/graphql`])),
      },
      'rest-bridge': { ...shared, REST_PORT: '1', GATEWAY_URL: 'http://127.0.0.1:2/graphql' },
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

  it('starts the subgraphs, then the gateway, then the bridge', () => {
    const groups = planProcesses({ config, databaseUrls, keys });
    expect(groups.map((group) => group.map(({ name }) => name))).toEqual([[...SUBGRAPH_NAMES], ['gateway'], ['rest-bridge']]);
    expect(groups[0]?.[0]?.args).toEqual(['--env-file=/app/packages/service/node.env', '/app/subgraphs/users/dist/main.js']);
  });
});
