/* global clearInterval, setInterval -- part of Node.js */
/** `npm run bench:upload`: the time of a 100 MiB upload by each transport against a bare receiver, and the memory that each process takes for it. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toWebm } from '../../e2e/dist/stack/clients/multipart.js';
import { startStack } from '../../e2e/dist/stack/stack.js';
import { withPostgres } from '../postgres.mjs';
import { createProcesses, residentKilobytes } from '../processes.mjs';
import { writeSection } from '../results.mjs';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 2 : 7;
const SIZE = 100 * 1024 * 1024;
const PIECE = toWebm(1024 * 1024);
const MAX_RISE_MB = 30;
const SAMPLE_MS = 20;
const MULTIPART = 'multipart/form-data; boundary=b';
const field = (name, text) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
const UPLOAD = 'mutation Upload($file: Upload!) { uploadVideo(title: "Large", file: $file) { id } }';
const OPERATIONS = JSON.stringify({ query: UPLOAD, variables: { file: null } });

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Sends the pieces as fast as they are taken. Resolves with the seconds until the response has ended. */
async function send({ url, method, headers, before = '', after = '', status }) {
  const begin = performance.now();
  const length = before.length + SIZE + after.length;
  const sent = request(url, { method, agent: false, headers: { ...headers, 'content-length': length } });
  const answered = once(sent, 'response');
  sent.write(before);
  for (let at = 0; at < SIZE; at += PIECE.length) if (!sent.write(PIECE)) await once(sent, 'drain');
  sent.end(after);
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== status) throw new Error(`${method} ${url} was answered ${String(response.statusCode)}`);
  return (performance.now() - begin) / 1000;
}

/** The transports, by name: each returns what to send. */
function createTransports({ stack, account, bare }) {
  const authorization = `Bearer ${account.token}`;
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: video/webm\r\n\r\n';
  return {
    'bare node:http': () => ({ url: `http://127.0.0.1:${String(bare.port)}/`, method: 'POST', headers: {}, status: 201 }),
    'GraphQL multipart': () => ({
      url: `${stack.gateway}/graphql`,
      method: 'POST',
      headers: { authorization, 'content-type': MULTIPART },
      before: field('operations', OPERATIONS) + field('map', '{"file":["variables.file"]}') + file,
      after: '\r\n--b--\r\n',
      status: 200,
    }),
    'REST, raw body': () => ({
      url: `${stack.rest}/v1/videos?title=Large`,
      method: 'POST',
      headers: { authorization, 'content-type': 'video/webm' },
      status: 201,
    }),
    'tus, one PATCH': async () => {
      const { headers } = await stack.call('POST', '/v1/uploads', { token: account.token, body: { title: 'Large', size: SIZE } });
      const type = { 'content-type': 'application/offset+octet-stream', 'tus-resumable': '1.0.0', 'upload-offset': '0' };
      return { url: `${stack.rest}${headers.get('location')}`, method: 'PATCH', headers: { authorization, ...type }, status: 204 };
    },
  };
}

/** Calls `work`, and resolves with its result and by how many MB the memory of each process rose at most. */
async function watchMemory(processes, work) {
  const read = () => Promise.all(Object.values(processes).map((pid) => residentKilobytes(pid)));
  const before = await read();
  const most = [...before];
  const sample = async () => {
    for (const [i, kilobytes] of (await read()).entries()) most[i] = Math.max(most[i], kilobytes);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  const result = await work();
  clearInterval(timer);
  await sample();
  return { result, rises: most.map((kilobytes, i) => (kilobytes - before[i]) / 1024) };
}

async function measure(stack, bare) {
  const account = await stack.createAccount('Ada');
  const [bridge, gateway] = stack.edge;
  const processes = { bare: bare.pid, gateway: gateway.pid, bridge: bridge.pid, content: stack.subgraphs.content.pid };
  const transports = createTransports({ stack, account, bare });
  const results = Object.fromEntries(Object.keys(transports).map((name) => [name, { seconds: [], rises: [] }]));
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, prepare] of Object.entries(transports)) {
      const target = await prepare();
      const { result, rises } = await watchMemory(processes, () => send(target));
      // The first round does not count: processes load code and grow their heaps.
      if (round === 0) continue;
      results[name].seconds.push(result);
      results[name].rises.push(rises);
    }
  return { names: Object.keys(processes), results };
}

function report({ names, results }) {
  const bare = results['bare node:http'].seconds;
  const lines = ['', `| 100 MiB by | MB/s | time against bare | ${names.map((name) => `${name}, MB`).join(' | ')} |`];
  lines.push(`| --- | --- | --- | ${names.map(() => '---').join(' | ')} |`);
  let worst = 0;
  for (const [name, { seconds, rises }] of Object.entries(results)) {
    const ratios = seconds.map((each, i) => each / bare[i]);
    const most = names.map((_, i) => Math.max(...rises.map((each) => each[i])));
    worst = Math.max(worst, ...most.slice(1));
    const range = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
    lines.push(
      `| ${name} | ${(SIZE / 1e6 / median(seconds)).toFixed(0)} | ${range} | ${most.map((each) => each.toFixed(1)).join(' | ')} |`,
    );
  }
  const verdict = worst <= MAX_RISE_MB ? 'holds' : 'MISSED';
  lines.push('', `No process may take more than ${String(MAX_RISE_MB)} MB more: at most ${worst.toFixed(1)} MB, ${verdict}.`);
  return { lines, isMet: worst <= MAX_RISE_MB };
}

const home = await mkdtemp(join(tmpdir(), 'trestle-bench-'));
const children = createProcesses();
let isMet = false;
try {
  await withPostgres({ onLog: () => undefined }, async () => {
    const stack = await startStack();
    try {
      const bare = await children.fork(fileURLToPath(new URL('bare.mjs', import.meta.url)), { env: { HOME_DIR: home } });
      const before = loadavg()[0];
      const { lines, isMet: holds } = report(await measure(stack, bare));
      isMet = holds;
      const load = `${before.toFixed(0)} to ${loadavg()[0].toFixed(0)}`;
      const note = `Medians of ${String(ROUNDS)} interleaved rounds (lowest to highest ratio within a round) at a load of ${load}; the client shares the
machine. Memory is the highest rise of a round. The bare server writes the bytes to a file and flushes it; content also computes
SHA-256, and a resumable upload is written twice (ADR 27).`;
      console.log([note, ...lines].join('\n'));
      if (!isQuick) await writeSection('What uploads cost', { command: 'npm run bench:upload', lines: ['', note, ...lines] });
    } finally {
      await stack.stop();
    }
  });
} finally {
  children.endAll();
  await rm(home, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);
