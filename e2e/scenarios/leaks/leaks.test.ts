/** No secret and no personal data in logs, traces, metrics and errors of all flows (spec §5.10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import type { Stack } from '../../stack/stack.ts';
import { type OAuthSystem, startOAuthSystem } from '../oauth/oauth-system.ts';
import { Flows } from './flows.ts';
import type { Planted } from './planted.ts';

const GIVEN_CHALLENGE = /"challenge":"[\w-]{43}"/g;

/** On two machines there are ten processes and all of their flows. */
const START_MS = 300_000;

let collector: Collector;
let system: OAuthSystem<Stack>;
let planted: Planted;
const found = new Map<string, string>();

beforeAll(async () => {
  collector = await startCollector();
  system = await startOAuthSystem({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    LOG_LEVEL: 'debug',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  const other = await system.stack.startGateway({ GATEWAY_ENGINE: 'apollo' });
  const flows = new Flows(system, [other.url]);
  await flows.run();
  planted = flows.planted;
  found.set('errors', flows.errors.join('\n'));
  found.set('metrics', (await readMetrics(system)).join('\n'));
  found.set('audit trail', await readAuditTrail(system));
  await until(() => Promise.resolve(JSON.stringify(collector.spans).includes('INSERT')));
  // Logs are written in batches.
  await system.stop();
  found.set('traces', JSON.stringify(collector.spans));
  found.set('logs', [...processesOf(system), other].flatMap(({ lines }) => lines).join('\n'));
}, START_MS);
afterAll(() => collector.stop());

const processesOf = ({ stack }: OAuthSystem<Stack>) => [...stack.edge, ...stack.nodes.flatMap(({ subgraphs }) => Object.values(subgraphs))];

function readMetrics(from: OAuthSystem<Stack>): Promise<string[]> {
  return Promise.all(processesOf(from).map(async ({ url }) => (await request(`${url}/metrics`, { method: 'GET' })).text));
}

async function readAuditTrail({ stack }: OAuthSystem<Stack>): Promise<string> {
  return JSON.stringify(await stack.sql('users', 'SELECT * FROM security_events'));
}

describe.each(['logs', 'traces', 'metrics', 'errors', 'audit trail'])('the %s of all flows', (place) => {
  it('are there', () => {
    const expected = {
      logs: '"route":"/auth/login"',
      traces: 'INSERT',
      metrics: 'http_server',
      errors: 'UNAUTHORIZED',
      'audit trail': 'API_KEY_USED',
    };
    expect(found.get(place)).toContain(expected[place as keyof typeof expected]);
  });

  it.each([
    ...['password', 'e-mail address', 'card number', 'address', 'access token', 'refresh token', 'API key', 'client secret', 'code'],
    ...['device code', 'TOTP secret', 'recovery code', 'challenge'],
  ])('contain no planted %s', (kind) => {
    const all = found.get(place) ?? '';
    // An error that demands a second factor gives its client the challenge.
    const text = place === 'errors' ? all.replace(GIVEN_CHALLENGE, '') : all;
    const values = planted.of(kind);
    expect(values.length).toBeGreaterThan(0);
    // The surroundings of a finding say where it comes from.
    const findings = values.flatMap((value) => {
      const at = text.indexOf(value);
      return at < 0 ? [] : [text.slice(Math.max(0, at - 300), at + 100)];
    });
    expect(findings).toEqual([]);
  });
});
