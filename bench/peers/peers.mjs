/** Starts the peers that are installed here; each listens on a port of its own. A peer that does not start is left out, with a word about it. */
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** `spawn(command, args, options)` starts a process on the gateways' core. */
export async function startAll({ env, spawn }) {
  const peers = [
    { name: 'mercurius', command: process.execPath, args: () => [here('mercurius.mjs')] },
    {
      name: 'hive',
      command: process.execPath,
      args: (port) => [
        here('node_modules/@graphql-hive/gateway/dist/bin.js'),
        'supergraph',
        env.SUPERGRAPH_PATH,
        '--port',
        String(port),
        '--host',
        '127.0.0.1',
      ],
    },
  ];
  const started = [];
  for (const { name, command, args } of peers) {
    const port = await freePort();
    const child = spawn(command, args(port), {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'error', ...env, PORT: String(port) },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk.toString()).slice(-1000)));
    if (await answers(port, child)) started.push({ name, pid: child.pid, port });
    else console.log(`${name} did not start: ${output}`);
  }
  return started;
}

async function answers(port, child) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline && child.exitCode === null) {
    const body = JSON.stringify({ query: '{ __typename }' });
    const reply = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).catch(() => undefined);
    if (reply?.ok) return true;
    await pause(200);
  }
  return false;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
