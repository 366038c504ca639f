/** Formats what `npm start` prints when the system is ready: addresses, demo accounts and example commands. No I/O. */
import { SUBGRAPH_NAMES, portSettingOf } from '@trestle/schema/subgraphs';
import type { Config } from './config.ts';
import { toTable } from './credentials.ts';
import type { Started } from './supervisor.ts';

/** Holds the values of the summary. */
export interface SummaryOptions {
  readonly config: Config;
  readonly started: Started;
  /** Duration of the start. */
  readonly seconds: number;
}

/** Returns the summary. */
export function toSummary({ config, started: { credentials, postgresPort }, seconds }: SummaryOptions): string {
  const scheme = config.inherited.TLS_CERT_FILE === undefined ? 'http' : 'https';
  const rest = `${scheme}://localhost:${String(config.REST_PORT)}`;
  const graphql = `${scheme}://localhost:${String(config.GATEWAY_PORT)}${config.inherited.GRAPHQL_PATH ?? '/graphql'}`;
  const subgraphs = SUBGRAPH_NAMES.map((name) => `http://localhost:${String(config[portSettingOf(name)])}/graphql`);
  const postgres = postgresPort === undefined ? [] : [`  PostgreSQL 127.0.0.1:${String(postgresPort)}`];
  const accounts = credentials
    ? ['Demo accounts (print them again with npm run demo:credentials):', '', toTable(credentials), '', ...toExamples(rest, graphql)]
    : [];
  return [
    '',
    `Trestle is ready after ${seconds.toFixed(1)} s.`,
    '',
    `  REST       ${rest}`,
    `  GraphQL    ${graphql}`,
    `  subgraphs  ${subgraphs.join('  ')}`,
    `  registry   http://localhost:${String(config.REGISTRY_PORT)}/graphql`,
    ...postgres,
    ...(config.inherited.SMTP_URL === undefined ? [`  mailbox    http://localhost:${String(config.USERS_PORT)}/mailbox`] : []),
    ...(config.inherited.PUBLIC_URL === undefined ? [] : [`  public     ${config.inherited.PUBLIC_URL}`]),
    `  data       ${config.DATA_DIR} (logs in logs/)`,
    '',
    ...accounts,
    'Press Ctrl-C to stop. The data is kept.',
    '',
  ].join('\n');
}

const JSON_BODY = `-H 'content-type: application/json' -d`;
const QUERY = '{ me { name posts { title comments { totalCount } } orders { status total items { qty product { name } } } } }';

/** Returns commands for a login, a GraphQL query across three databases, and a list of users over REST. */
function toExamples(rest: string, graphql: string): string[] {
  const login = `curl -s ${rest}/v1/auth/login ${JSON_BODY} '{"email":"ada@example.com","password":"ada-Passw0rd!"}'`;
  return [
    'Examples to paste into a terminal:',
    '',
    `TOKEN=$(${login} | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/'); echo "$TOKEN"`,
    '',
    `curl -s ${graphql} -H "authorization: Bearer $TOKEN" ${JSON_BODY} '{"query":"${QUERY}"}'`,
    '',
    `curl -s '${rest}/v1/users?role=user&sort=-createdAt&fields=id,name&limit=5'`,
    '',
  ];
}
