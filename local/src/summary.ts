/** What the person at the terminal reads once everything runs: addresses, accounts and three lines to paste. */
import type { Config } from './config.ts';
import { type DemoCredentials, toTable } from './credentials.ts';

export interface SummaryOptions {
  readonly config: Config;
  /** Undefined when there are no demo accounts. */
  readonly credentials: DemoCredentials | undefined;
  readonly seconds: number;
}

export function toSummary({ config, credentials, seconds }: SummaryOptions): string {
  const rest = `http://localhost:${String(config.REST_PORT)}`;
  const graphql = `http://localhost:${String(config.GATEWAY_PORT)}/graphql`;
  const subgraphs = [config.USERS_PORT, config.ORDERS_PORT, config.CONTENT_PORT].map((port) => `http://localhost:${String(port)}/graphql`);
  const accounts = credentials
    ? ['Demo accounts (npm run demo:credentials prints them again)', '', toTable(credentials), '', ...toTour(rest, graphql)]
    : [];
  return [
    '',
    `Trestle is ready, after ${seconds.toFixed(1)} s.`,
    '',
    `  REST       ${rest}`,
    `  GraphQL    ${graphql}`,
    `  subgraphs  ${subgraphs.join('  ')}`,
    ...(config.inherited.PUBLIC_URL === undefined ? [] : [`  public     ${config.inherited.PUBLIC_URL}`]),
    `  data       ${config.DATA_DIR} (logs in logs/)`,
    '',
    ...accounts,
    'Ctrl-C stops everything; the data stays.',
    '',
  ].join('\n');
}

const JSON_BODY = `-H 'content-type: application/json' -d`;

function toTour(rest: string, graphql: string): string[] {
  return [
    'Three lines to paste:',
    '',
    `curl -s ${rest}/v1/auth/login ${JSON_BODY} '{"email":"ada@example.com","password":"ada-Passw0rd!"}'`,
    `curl -s ${graphql} ${JSON_BODY} '{"query":"{ users(pagination: {limit: 3}) { name posts { title } } }"}'`,
    `curl -s '${rest}/v1/users?role=user&sort=-createdAt&fields=id,name&limit=5'`,
    '',
  ];
}
