/** Starts the peers that are installed in this folder, each on its own port. A peer that does not start is reported and left out. */
import { existsSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Starts the peers and resolves with those that answer. `spawn(command, args, options)` starts a process on the core of the gateways. `isWanted` selects by
 * name; `withDeduplication` adds Hive Gateway with its deduplication of requests in flight.
 */
export async function startAll({ env, spawn, isWanted = () => true, withDeduplication = false }) {
  const bin = here('node_modules/@graphql-hive/gateway/dist/bin.js');
  const hive = (port) => [
    bin,
    'supergraph',
    env.SUPERGRAPH_PATH,
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    ...(env.FORWARD_AUTHORIZATION ? ['--config-path', here('hive.mjs')] : []),
  ];
  const node = process.execPath;
  const peers = [
    { name: 'mercurius', flags: '`jit: 1`', command: node, args: () => [here('mercurius.mjs')] },
    { name: 'hive', flags: '`--jit`', command: node, args: (port) => [...hive(port), '--jit'] },
    {
      name: 'hive, rust planner',
      flags: '`--hive-router-runtime`',
      command: node,
      args: (port) => [...hive(port), '--hive-router-runtime'],
    },
    ...(withDeduplication
      ? [
          {
            name: 'hive, deduplication',
            flags: '`--jit`, `inboundInflightRequestDeduplication`',
            command: node,
            settings: { DEDUPLICATION: '1' },
            args: (port) => [...hive(port), '--jit'],
          },
          {
            name: 'hive, rust planner, deduplication',
            flags: '`--hive-router-runtime`, `inboundInflightRequestDeduplication`',
            command: node,
            settings: { DEDUPLICATION: '1' },
            args: (port) => [...hive(port), '--hive-router-runtime'],
          },
        ]
      : []),
    ...(existsSync(GRAFBASE)
      ? [{ name: 'grafbase', flags: '`grafbase dev`', command: GRAFBASE, args: await createGrafbaseArguments(env) }]
      : []),
  ].filter(({ name }) => isWanted(name));
  const started = [];
  for (const { name, flags, command, args, settings } of peers) {
    const port = await freePort();
    const child = spawn(command, args(port), {
      env: { PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'error', ...env, ...settings, PORT: String(port) },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = (output + chunk.toString()).slice(-1000)));
    if (await answers(port, child)) started.push({ name, flags, pid: child.pid, port });
    else console.log(`${name} did not start: ${output}`);
  }
  return started;
}

/** npm has Grafbase's gateway only as a part of its command line, which composes the supergraph itself. */
const GRAFBASE = here('node_modules/@grafbase/cli-x86_64-unknown-linux-musl/grafbase');

async function createGrafbaseArguments({ URLS, SUPERGRAPH_PATH, SUBGRAPHS_MODULE = '../gateway/supergraph.mjs' }) {
  const { SUBGRAPHS } = await import(SUBGRAPHS_MODULE);
  const home = await mkdtemp(join(dirname(SUPERGRAPH_PATH), 'grafbase-'));
  const config = join(home, 'grafbase.toml');
  const sections = Object.entries(JSON.parse(URLS)).map(
    ([name, url]) => `[subgraphs.${name}]\nurl = "${url}"\nschema_path = "./${name}.graphql"\n`,
  );
  await writeFile(config, `[[headers]]\nrule = "forward"\nname = "authorization"\n\n${sections.join('\n')}`);
  for (const [name, { sdl }] of Object.entries(SUBGRAPHS)) await writeFile(join(home, `${name}.graphql`), sdl);
  return (port) => ['--home', home, 'dev', '--config', config, '--port', String(port)];
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
