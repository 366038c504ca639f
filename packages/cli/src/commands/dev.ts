/** `dev`: the gateway here, over the graph of an environment with some subgraphs replaced by those that run here (docs/cli.md). */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, CommandContext } from '../command.ts';
import { readEnvironment } from '../config.ts';
import { type DevGraph, type DevSubgraph, createDevGraph } from '../dev/dev-graph.ts';
import { type GatewayMessage, type GatewayProcess, findGateway, startGateway } from '../dev/gateway-process.ts';
import { CommandError, EXIT, usageError } from '../exit-codes.ts';
import { stripControl } from '../terminal.ts';
import { maskCredentials, toShownUrl } from '../shown-url.ts';
import { parseUrl } from '../wait-for.ts';
import { readNumber } from './subgraph-publish.ts';

const DEFAULT_PORT = '4000';
const DEFAULT_INTERVAL_MS = 1000;
const MIN_INTERVAL_MS = 100;
/** The settings of the registry are for this command: the gateway takes its supergraph from a file, and reports nothing. */
const OWN_SETTINGS = 'REGISTRY_';

/** The command `dev`. */
export const dev: Command = {
  words: 'dev',
  usage: '--subgraph NAME=URL… [--port N] [--interval-ms N] [--gateway FILE] [-- FLAGS OF THE GATEWAY]',
  summary: 'Runs the gateway here, over the deployed graph with subgraphs replaced by those that run here.',
  options: {
    subgraph: { type: 'string', multiple: true },
    port: { type: 'string' },
    'interval-ms': { type: 'string' },
    gateway: { type: 'string' },
  },
  async run(context) {
    if (context.reporter.format !== 'text') throw usageError('dev writes text for people only. Leave --format and --json out.');
    const subgraphs = readDevSubgraphs(context.list('subgraph'));
    const intervalMs = Math.max(MIN_INTERVAL_MS, readNumber(context, 'interval-ms', DEFAULT_INTERVAL_MS));
    const command = findGateway(context.text('gateway'), process.cwd());
    const { signal, isStopped, release } = catchSignals();
    const onNotice = (text: string) => {
      if (!isStopped()) context.reporter.line(stripControl(text));
    };
    const graph = createDevGraph({ registry: context.registry(), environment: context.environment(), subgraphs, signal, onNotice });
    const folder = await mkdtemp(join(tmpdir(), 'trestle-dev-'));
    const session = createSession({ context, graph, command, file: join(folder, 'supergraph.graphql'), subgraphs });
    try {
      await graph.open();
      while (!isStopped()) {
        await graph.read();
        if (!isStopped()) await session.apply();
        await Promise.race([sleep(intervalMs, undefined, { signal }), session.failed]);
      }
    } catch (error) {
      // The signal ends whatever is waited for.
      if (!isStopped()) throw error;
    } finally {
      await session.stop();
      release();
      await rm(folder, { recursive: true, force: true });
    }
    return EXIT.success;
  },
};

interface SessionOptions {
  readonly context: CommandContext;
  readonly graph: DevGraph;
  readonly command: string;
  /** The file of the supergraph. */
  readonly file: string;
  readonly subgraphs: readonly DevSubgraph[];
}

/** Composes what has changed, and keeps a gateway with the last graph that composed. */
function createSession({ context, graph, command, file, subgraphs }: SessionOptions) {
  const { reporter } = context;
  let composed = '';
  let gateway: GatewayProcess | undefined;
  let isStopping = false;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  // Nobody may wait for it at the time.
  failed.catch(() => undefined);
  const start = () => {
    const args = ['--supergraph', file, '--port', context.text('port') ?? DEFAULT_PORT, ...toGatewayArguments(context.positionals)];
    const onMessage = (message: GatewayMessage) => {
      const line = describe(message, subgraphs, context.environment());
      if (line !== undefined) reporter.line(stripControl(line));
    };
    gateway = startGateway({ command, args, env: createGatewayEnvironment(), onMessage });
    void gateway.ended.then(({ code, output }) => {
      if (!isStopping)
        fail(new CommandError(`The gateway has ended with code ${String(code)}:\n${stripControl(output)}`, EXIT.server, 'GATEWAY_ENDED'));
    });
  };
  return {
    /** Rejects when the gateway ends by itself. */
    failed,
    /** Composes the graph when it is another than before. What does not compose is reported, and the last graph stays. */
    async apply() {
      const sources = graph.sources();
      const key = JSON.stringify(sources);
      if (!sources || key === composed) return;
      composed = key;
      const { composeGraph } = await import('@trestle/graph-checks/compose');
      const composition = composeGraph(sources, { secondOpinion: false, showIn: subgraphs.map(({ name }) => name) });
      if (!composition.ok) {
        for (const error of composition.errors) reporter.fault(error, graph.texts());
        reporter.line(
          gateway ? 'The graph does not compose. The last one is still served.' : 'The graph does not compose. Waiting for a change.',
        );
        return;
      }
      await writeFile(`${file}.next`, composition.supergraphSdl);
      await rename(`${file}.next`, file);
      if (!gateway) start();
    },
    async stop() {
      isStopping = true;
      await gateway?.stop();
    },
  };
}

/** Returns the subgraphs of `--subgraph NAME=URL`. */
function readDevSubgraphs(values: readonly string[]): DevSubgraph[] {
  if (values.length === 0) throw usageError('Name at least one subgraph that runs here: --subgraph NAME=URL.');
  const subgraphs = values.map((value) => {
    const [, name, url] = /^([A-Za-z][\w-]*)=(.+)$/su.exec(value) ?? [];
    if (name === undefined || url === undefined) throw usageError(`--subgraph needs NAME=URL, not "${maskCredentials(value)}".`);
    return { name, url: parseUrl(url) };
  });
  const twice = subgraphs.find(({ name }, index) => subgraphs.findIndex((each) => each.name === name) < index);
  if (twice) throw usageError(`Subgraph "${twice.name}" is given twice.`);
  return subgraphs;
}

/** Credentials go to the subgraphs unchecked, unless the gateway is given settings of its own for them. */
function toGatewayArguments(given: readonly string[]): readonly string[] {
  return given.some((each) => /^--auth(?:=|$)/u.test(each)) ? given : ['--auth', 'off', ...given];
}

function createGatewayEnvironment(): Readonly<Record<string, string | undefined>> {
  const inherited = Object.entries(readEnvironment()).filter(([name]) => !name.startsWith(OWN_SETTINGS));
  return { DRAIN_DELAY_MS: '0', ...Object.fromEntries(inherited), LOG_LEVEL: 'info' };
}

/** Returns what people should see of a line of the gateway's log, if anything. */
function describe(
  { level, msg, port, path = '/graphql', detail }: GatewayMessage,
  subgraphs: readonly DevSubgraph[],
  environment: string,
): string | undefined {
  if (port !== undefined && msg === 'listening') {
    const replaced = subgraphs.map(({ name, url }) => `${name} at ${toShownUrl(url)}`).join(', ');
    return `http://localhost:${String(port)}${path} serves the graph of ${environment} with ${replaced}. Ctrl-C stops it.`;
  }
  if (msg === 'serving a new supergraph') return 'The new graph is served.';
  if (level !== 'warn' && level !== 'error') return undefined;
  return `gateway ${level}: ${msg}${detail === undefined ? '' : `: ${detail}`}`;
}

/** Catches the signals that stop the command, until `release` is called. */
function catchSignals() {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, stop);
  return {
    signal: controller.signal,
    isStopped: () => controller.signal.aborted,
    release: () => {
      for (const name of names) process.off(name, stop);
    },
  };
}
