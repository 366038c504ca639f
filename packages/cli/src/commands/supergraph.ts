/** `supergraph fetch|compose|diff`. */
import { existsSync, statSync } from 'node:fs';
import type { GraphQLSchema } from 'graphql';
import type { Command, CommandContext } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit-codes.ts';
import { readConfig, readText, toSources, toSubgraphSources, writeResult } from '../files.ts';
import { fetchContract } from './contract.ts';
import { notFound } from './subgraph-read.ts';
import { stripControl } from '../terminal.ts';

interface Launch {
  readonly id: string;
  readonly supergraphSdl: string;
  readonly apiSdl: string;
}

/** The command `supergraph fetch`. */
export const supergraphFetch: Command = {
  words: 'supergraph fetch',
  usage: '[--contract NAME] [--api] [--output FILE]',
  summary: 'Prints the supergraph of an environment or a contract, or with --api the schema that clients see.',
  options: { contract: { type: 'string' }, api: { type: 'boolean' }, output: { type: 'string' } },
  takesNoArguments: true,
  async run(context) {
    const name = context.text('contract');
    if (name !== undefined) {
      const contract = await fetchContract<object>(context, { name, fields: '{ name supergraphSdl apiSdl }' });
      await writeResult(context.isSet('api') ? contract.apiSdl : contract.supergraphSdl, context);
      context.reporter.finish({ contract });
      return EXIT.success;
    }
    const launch = await fetchLaunch(context, context.environment());
    await writeResult(context.isSet('api') ? launch.apiSdl : launch.supergraphSdl, context);
    context.reporter.finish({ launch });
    return EXIT.success;
  },
};

/** The command `supergraph compose`. */
export const supergraphCompose: Command = {
  words: 'supergraph compose',
  usage: '--config FILE [--api] [--output FILE]',
  summary: 'Composes the subgraphs of a configuration file, without a registry.',
  options: { config: { type: 'string' }, api: { type: 'boolean' }, output: { type: 'string' } },
  takesNoArguments: true,
  async run(context) {
    const { reporter } = context;
    const subgraphs = await readConfig(context.required('config'));
    const { composeGraph } = await import('@trestle/graph-checks/compose');
    const composition = composeGraph(toSubgraphSources(subgraphs));
    const [sources, { disagreements }] = [toSources(subgraphs), composition];
    if (!composition.ok) {
      for (const error of composition.errors) reporter.fault(error, sources);
      reporter.finish({ errors: composition.errors, disagreements });
      return EXIT.refused;
    }
    await writeResult(context.isSet('api') ? composition.apiSdl : composition.supergraphSdl, context);
    for (const { message } of disagreements) reporter.terminal.err(`The composers disagree: ${stripControl(message)}\n`);
    const { supergraphSdl, apiSdl, hints } = composition;
    reporter.finish({ supergraphSdl, apiSdl, hints, disagreements });
    return EXIT.success;
  },
};

/** The command `supergraph diff`. */
export const supergraphDiff: Command = {
  words: 'supergraph diff',
  usage: 'FROM TO [--fail-on-breaking]   (each a supergraph or schema FILE, or an environment)',
  summary: 'Lists the changes that clients see between two graphs.',
  options: { 'fail-on-breaking': { type: 'boolean' } },
  async run(context) {
    const [from, to, ...rest] = context.positionals;
    if (from === undefined || to === undefined || rest.length > 0) throw usageError('Name two graphs: FROM and TO.');
    const [before, after] = [await readGraph(context, from), await readGraph(context, to)];
    const { listChanges } = await import('@trestle/graph-checks/changes');
    const supergraphs =
      before.supergraphSdl === undefined || after.supergraphSdl === undefined
        ? undefined
        : { from: before.supergraphSdl, to: after.supergraphSdl };
    const changes = (await listChanges(before.schema, after.schema, supergraphs)).map(({ level, type, coordinate, message }) => ({
      level,
      type,
      coordinate,
      message,
    }));
    const { paint } = context.reporter.terminal;
    const colors = { breaking: paint.red, dangerous: paint.yellow, safe: paint.green };
    for (const { level, type, message } of changes)
      context.reporter.line(`${colors[level](level)} ${paint.bold(type)} ${stripControl(message)}`);
    if (changes.length === 0) context.reporter.line('No change.');
    context.reporter.finish({ changes });
    return context.isSet('fail-on-breaking') && changes.some(({ level }) => level === 'breaking') ? EXIT.refused : EXIT.success;
  },
};

async function fetchLaunch(context: CommandContext, name: string): Promise<Launch> {
  const query = 'query Launch($name: String!) { environment(name: $name) { release { launch { id supergraphSdl apiSdl } } } }';
  const { environment } = await context.registry().send<{ environment: { release: { launch: Launch } } | null }>(query, { name });
  if (!environment) throw notFound(`Environment "${name}" has no release.`);
  return environment.release.launch;
}

interface Graph {
  /** What clients see. */
  readonly schema: GraphQLSchema;
  /** Undefined for a file with a schema that is no supergraph. */
  readonly supergraphSdl: string | undefined;
}

/** Returns the graph of a file or an environment. */
async function readGraph(context: CommandContext, place: string): Promise<Graph> {
  // A folder is no schema, and may have the name of an environment. A pipe is one: `<(command)`.
  const isFile = place === '-' || (existsSync(place) && !statSync(place).isDirectory());
  const text = isFile ? await readText(place) : (await fetchLaunch(context, place)).supergraphSdl;
  const { buildSchema } = await import('graphql');
  const { toApiSdl } = await import('@trestle/graph-checks/compose');
  const isSupergraph = /\bdirective\s+@join__graph\b/u.test(text);
  try {
    const schema = buildSchema(isSupergraph ? toApiSdl(text) : text, { assumeValidSDL: true });
    return { schema, supergraphSdl: isSupergraph ? text : undefined };
  } catch (error) {
    throw new CommandError(`${place} is not a schema: ${(error as Error).message}`, EXIT.usage, 'INVALID_SCHEMA');
  }
}
