/** `npm run bench:identity`: what a known token and the rate limit cost, by themselves and in `GET /v1/users/{id}` at the bridge. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { createClientIds, toClientHeaders } from '@trestle/service/clients/client-id';
import { record } from '../bridge/record.mjs';
import { withPostgres } from '../postgres.mjs';
import { MEASURED, ask, createProcesses, preciseCpuSeconds } from '../processes.mjs';
import { writeSection } from '../results.mjs';
import { measureCalls } from './calls.mjs';

const isQuick = process.argv.includes('--quick');
// Many short rounds: what else the machine does hits all rows of a round alike, so ratios within a round vary least.
const ROUNDS = isQuick ? 10 : 80;
const REQUESTS = 250;
const WARM_UP_ROUNDS = 12;
const UNLIMITED = '1000000000';
const CLIENT_KEY = 'x'.repeat(32);
const MAX_VERIFY = 3;
const MAX_LIMITER = 20;
const MAX_WRONG_KEY = 50;
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
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++)
    for (const [name, headers] of subjects) {
      const before = await preciseCpuSeconds(bridge.pid);
      const { wrong } = await ask(load, { url, headers, requests: REQUESTS, expected: 200 });
      if (wrong > 0) throw new Error(`${wrong} wrong responses to requests with ${name}`);
      if (round >= WARM_UP_ROUNDS) costs.get(name).push(((await preciseCpuSeconds(bridge.pid)) - before) / REQUESTS);
    }
  return costs;
}

function signedHeader() {
  const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } };
  createClientIds(CLIENT_KEY).identify(request);
  return toClientHeaders(request);
}

async function report({ verify, limiter, wrongKey }, costs) {
  const base = costs.get('neither');
  const share = (verify + limiter) / (median(costs.get('both')) * 1e6);
  const rows = [...costs].map(([name, values]) => {
    const ratios = values.map((value, round) => value / base[round]).toSorted((a, b) => a - b);
    const quartiles = [0.25, 0.5, 0.75].map((part) => ratios[Math.floor(ratios.length * part)].toFixed(3));
    return `| ${name} | ${(median(values) * 1e6).toFixed(0)} µs | ${quartiles[1]} | ${quartiles[0]} to ${quartiles[2]} |`;
  });
  const limits = [
    [`a known token is verified in ${verify.toFixed(2)} µs`, verify < MAX_VERIFY, `< ${MAX_VERIFY} µs`],
    [`the limiter takes ${limiter.toFixed(2)} µs with the headers of the response`, limiter < MAX_LIMITER, `< ${MAX_LIMITER} µs`],
    [`an API key with a wrong checksum is refused in ${wrongKey.toFixed(2)} µs`, wrongKey < MAX_WRONG_KEY, `< ${MAX_WRONG_KEY} µs`],
    [`both together are ${(share * 100).toFixed(1)} % of the request with both`, share < MAX_SHARE, `< ${MAX_SHARE * 100} %`],
  ];
  const lines = [
    `CPU time of the bridge in ${ROUNDS} rounds of ${REQUESTS} requests each, at a load of ${loadavg()[0].toFixed(0)}: medians, and of the ratios`,
    'within a round the quartiles. A request with a token also forwards it to the gateway, and its response is `private`.',
    '',
    '| `GET /v1/users/{id}` with | CPU a request | against neither | quartiles |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    ...limits.map(([what, holds, limit]) => `- ${what} (limit ${limit}: ${holds ? 'holds' : '**fails**'})`),
  ];
  console.log(lines.join('\n'));
  if (!isQuick) await writeSection('What identity and limits cost', { command: 'npm run bench:identity', lines });
  if (limits.some(([, holds]) => !holds)) process.exitCode = 1;
}
