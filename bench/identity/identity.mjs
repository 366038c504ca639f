/** `npm run bench:identity`: what a known token and the rate limit cost, by themselves and in `GET /v1/users/{id}` at the bridge. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestGrant } from '@trestle/identity/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens';
import { createClientIds, toClientHeaders } from '@trestle/service/client-id';
import { record } from '../bridge/record.mjs';
import { withPostgres } from '../postgres.mjs';
import { MEASURED, ask, cpuSeconds, createProcesses } from '../processes.mjs';
import { writeSection } from '../results.mjs';
import { measureCalls } from './calls.mjs';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 3 : 7;
const REQUESTS = isQuick ? 1000 : 2000;
const UNLIMITED = '1000000000';
const CLIENT_KEY = 'x'.repeat(32);
const MAX_VERIFY = 3;
const MAX_LIMITER = 20;
const MAX_SHARE = 0.05;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const { answers, userId } = await withPostgres({}, record);
const home = await mkdtemp(join(tmpdir(), 'trestle-bench-'));
const processes = createProcesses();
try {
  const calls = measureCalls();
  const costs = await measureRequests();
  await report(calls, costs);
} finally {
  processes.endAll();
  await rm(home, { recursive: true, force: true });
}

/** Returns the CPU seconds of a request in each round, with and without a token and the limit, in turn. */
async function measureRequests() {
  const keys = generateTokenKeys();
  const files = { 'answers.json': JSON.stringify(answers), 'public.pem': keys.publicKeyPem, 'client.key': CLIENT_KEY };
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
  const upstream = await processes.fork(here('../bridge/upstream.mjs'), { env: { ANSWERS_FILE: join(home, 'answers.json') } });
  const bridge = await processes.spawn(process.execPath, {
    args: [here('../../rest-bridge/dist/main.js')],
    core: MEASURED,
    env: {
      LOG_LEVEL: 'info',
      REST_PORT: '0',
      GATEWAY_URL: `http://127.0.0.1:${upstream.port}/graphql`,
      TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'),
      CLIENT_ID_KEY_FILE: join(home, 'client.key'),
      RATE_LIMIT_ANONYMOUS_PER_MIN: UNLIMITED,
      RATE_LIMIT_FREE_PER_MIN: UNLIMITED,
      // A busy machine must not make it answer 503.
      MAX_EVENT_LOOP_DELAY_MS: '60000',
    },
  });
  const { child: load } = await processes.fork(here('load.mjs'));
  const { token } = createTokenIssuer(keys).issue(createTestGrant({ id: userId }));
  const authorization = `Bearer ${token}`;
  // A request that another process of the system has signed is not counted.
  const uncounted = Object.fromEntries([signedHeader()]);
  const subjects = new Map([
    ['neither', uncounted],
    ['limit', {}],
    ['token', { ...uncounted, authorization }],
    ['both', { authorization }],
  ]);
  const costs = new Map([...subjects.keys()].map((name) => [name, []]));
  const url = `http://127.0.0.1:${bridge.port}/v1/users/${userId}`;
  // The first round is a warm-up and is not counted.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, headers] of subjects) {
      const before = await cpuSeconds(bridge.pid);
      const { wrong } = await ask(load, { url, headers, requests: REQUESTS, expected: 200 });
      if (wrong > 0) throw new Error(`${wrong} wrong responses to requests with ${name}`);
      if (round > 0) costs.get(name).push(((await cpuSeconds(bridge.pid)) - before) / REQUESTS);
    }
  return costs;
}

function signedHeader() {
  const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } };
  createClientIds(CLIENT_KEY).identify(request);
  return toClientHeaders(request);
}

async function report({ verify, limiter }, costs) {
  const base = median(costs.get('neither'));
  const ratio = (name) => median(costs.get(name)) / base;
  const share = (verify + limiter) / (median(costs.get('both')) * 1e6);
  const rows = [...costs].map(
    ([name, values]) =>
      `| ${name} | ${(median(values) * 1e6).toFixed(0)} µs | ${ratio(name).toFixed(3)} | ${values.map((value) => (value / base).toFixed(2)).join(' ')} |`,
  );
  const limits = [
    [`a known token is verified in ${verify.toFixed(2)} µs`, verify < MAX_VERIFY, `< ${MAX_VERIFY} µs`],
    [`the limiter takes ${limiter.toFixed(2)} µs with the headers of the response`, limiter < MAX_LIMITER, `< ${MAX_LIMITER} µs`],
    [`both together are ${(share * 100).toFixed(1)} % of the request with both`, share < MAX_SHARE, `< ${MAX_SHARE * 100} %`],
  ];
  const lines = [
    `CPU time, user + system; medians of ${ROUNDS} interleaved rounds of ${REQUESTS} requests, at a load of ${loadavg()[0].toFixed(0)}. A`,
    'request with a token also forwards it to the gateway, and its response is `private`. On a busy machine the rows vary by more than',
    '5 %: there, the sum of the two calls says more than their difference.',
    '',
    '| `GET /v1/users/{id}` with | CPU a request | against neither | of the rounds |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...limits.map(([what, holds, limit]) => `- ${what} (limit ${limit}: ${holds ? 'holds' : '**fails**'})`),
  ];
  console.log(lines.join('\n'));
  if (!isQuick) await writeSection('What identity and limits cost', { command: 'npm run bench:identity', lines });
  if (limits.some(([, holds]) => !holds)) process.exitCode = 1;
}
