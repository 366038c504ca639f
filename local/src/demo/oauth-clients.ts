/** The demo clients of the authorization server, one for each flow (contract §1). Secrets are generated at the first start. */
import { SCOPES } from '@trestle/identity/scopes';
import { DEMO_ACCOUNTS } from './accounts.ts';

/** A demo client. */
export interface DemoClient {
  readonly id: string;
  readonly name: string;
  readonly hasSecret: boolean;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

/** The account that owns the clients: tokens of client credentials act for it. */
export const DEMO_CLIENT_OWNER = DEMO_ACCOUNTS.find(({ email }) => email === 'ada@example.com')?.id ?? '';

/** Everything that may be delegated: `account:manage` is not. */
export const DEMO_CLIENT_SCOPES: readonly string[] = [
  ...['openid', 'profile', 'email', 'offline_access'],
  ...SCOPES.filter((scope) => scope !== 'account:manage'),
];

/** Lists the clients. */
export const DEMO_CLIENTS: readonly DemoClient[] = [
  {
    id: 'demo-browser-app',
    name: 'Demo browser application',
    hasSecret: false,
    redirectUris: ['http://localhost:8080/callback', 'http://127.0.0.1:8080/callback'],
    grantTypes: ['authorization_code', 'refresh_token'],
  },
  { id: 'demo-machine', name: 'Demo machine', hasSecret: true, redirectUris: [], grantTypes: ['client_credentials'] },
  {
    id: 'demo-device',
    name: 'Demo device',
    hasSecret: false,
    redirectUris: [],
    grantTypes: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
  },
];
