import { expect, it } from '@jest/globals';
import type { Config } from './config.ts';
import { planProcesses } from './processes.ts';

const config: Config = {
  REST_PORT: 1,
  GATEWAY_PORT: 2,
  USERS_PORT: 3,
  ORDERS_PORT: 4,
  CONTENT_PORT: 5,
  PG_PORT: 6,
  DATA_DIR: '/data',
  DEMO_DATA: true,
  LOG_LEVEL: 'warn',
  root: '/app',
  isUnderNpm: true,
  inherited: { PATH: '/bin', SUPERGRAPH_FILE: 'other.graphql' },
  USERS_DATABASE_URL: undefined,
  ORDERS_DATABASE_URL: undefined,
  CONTENT_DATABASE_URL: undefined,
};
const keys = { privateKeyFile: 'private.pem', publicKeyFile: 'public.pem' };
const databaseUrls = { users: 'pg:users', orders: 'pg:orders', content: 'pg:content' };

it('gives each process exactly the environment it needs, and the private key to users only', () => {
  const plans = planProcesses({ config, databaseUrls, keys }).flat();
  const shared = { PATH: '/bin', HOST: '127.0.0.1', LOG_LEVEL: 'warn', TOKEN_PUBLIC_KEY_FILE: 'public.pem' };
  const told = { ...shared, REVOCATIONS_URL: 'http://127.0.0.1:3/revocations' };
  expect(Object.fromEntries(plans.map(({ name, env }) => [name, env]))).toEqual({
    users: { ...shared, USERS_PORT: '3', USERS_DATABASE_URL: 'pg:users', TOKEN_PRIVATE_KEY_FILE: 'private.pem' },
    orders: { ...told, ORDERS_PORT: '4', ORDERS_DATABASE_URL: 'pg:orders' },
    content: { ...told, CONTENT_PORT: '5', CONTENT_DATABASE_URL: 'pg:content' },
    gateway: {
      ...told,
      GATEWAY_PORT: '2',
      SUPERGRAPH_FILE: 'other.graphql',
      SUBGRAPH_URL_USERS: 'http://127.0.0.1:3/graphql',
      SUBGRAPH_URL_ORDERS: 'http://127.0.0.1:4/graphql',
      SUBGRAPH_URL_CONTENT: 'http://127.0.0.1:5/graphql',
    },
    'rest-bridge': { ...shared, REST_PORT: '1', GATEWAY_URL: 'http://127.0.0.1:2/graphql' },
  });
});

it('has bridge and gateway speak TLS by one certificate, by which the bridge knows the gateway', () => {
  const tls = { TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: 'key.pem' };
  const plans = planProcesses({ config: { ...config, inherited: tls }, databaseUrls, keys }).flat();
  const [gateway, bridge] = ['gateway', 'rest-bridge'].map((name) => plans.find((plan) => plan.name === name)?.env);
  expect(gateway).toMatchObject(tls);
  expect(bridge).toMatchObject({ ...tls, GATEWAY_URL: 'https://127.0.0.1:2/graphql', GATEWAY_CERT_FILE: 'cert.pem' });
  expect(plans.filter(({ env }) => 'TLS_KEY_FILE' in env)).toHaveLength(2);
});

it('starts the subgraphs, then the gateway, then the bridge', () => {
  const groups = planProcesses({ config, databaseUrls, keys });
  expect(groups.map((group) => group.map(({ name }) => name))).toEqual([['users', 'orders', 'content'], ['gateway'], ['rest-bridge']]);
  expect(groups[0]?.[0]?.args).toEqual(['--env-file=/app/packages/service/node.env', '/app/subgraphs/users/dist/main.js']);
});
