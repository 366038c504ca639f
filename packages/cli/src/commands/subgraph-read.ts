/** `subgraph list|fetch|introspect|lint`. */
import type { Command } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit-codes.ts';
import { readSubgraphs, toSources, writeResult } from '../files.ts';
import { stripControl } from '../terminal.ts';
import { introspect, parseUrl } from '../wait-for.ts';

/** The command `subgraph list`. */
export const subgraphList: Command = {
  words: 'subgraph list',
  usage: '',
  summary: 'Lists the subgraphs of an environment.',
  options: {},
  takesNoArguments: true,
  async run(context) {
    const query = 'query List($name: String!) { environment(name: $name) { subgraphs { name url id actor createdAt } } }';
    const { environment } = await context.registry().send<{
      environment: { subgraphs: { name: string; url: string; createdAt: string; actor: string }[] } | null;
    }>(query, { name: context.environment() });
    if (!environment) throw notFound(`Environment "${context.environment()}" has no release.`);
    for (const { name, url, createdAt, actor } of environment.subgraphs)
      context.reporter.line(stripControl(`${name}  ${url}  ${createdAt}  ${actor}`));
    context.reporter.finish({ subgraphs: environment.subgraphs });
    return EXIT.success;
  },
};

/** The command `subgraph fetch`. */
export const subgraphFetch: Command = {
  words: 'subgraph fetch',
  usage: 'NAME [--output FILE]',
  summary: 'Prints the published schema of a subgraph.',
  options: { name: { type: 'string' }, output: { type: 'string' } },
  async run(context) {
    const subgraph = context.text('name') ?? onePositional(context.positionals, 'a subgraph');
    const query =
      'query Fetch($name: String!, $subgraph: String!) { environment(name: $name) { subgraph(name: $subgraph) { name url sdl } } }';
    const { environment } = await context.registry().send<{ environment: { subgraph: { sdl: string } | null } | null }>(query, {
      name: context.environment(),
      subgraph,
    });
    if (!environment?.subgraph) throw notFound(`Environment "${context.environment()}" has no subgraph "${subgraph}".`);
    await writeResult(environment.subgraph.sdl, context);
    context.reporter.finish({ subgraph: environment.subgraph });
    return EXIT.success;
  },
};

/** The command `subgraph introspect`. */
export const subgraphIntrospect: Command = {
  words: 'subgraph introspect',
  usage: 'URL [--output FILE]',
  summary: 'Prints the schema that a running subgraph serves.',
  options: { output: { type: 'string' } },
  async run(context) {
    const sdl = await introspect(parseUrl(onePositional(context.positionals, 'a URL')));
    await writeResult(sdl.endsWith('\n') ? sdl : `${sdl}\n`, context);
    context.reporter.finish({ sdl });
    return EXIT.success;
  },
};

/** The command `subgraph lint`. */
export const subgraphLint: Command = {
  words: 'subgraph lint',
  usage: '[NAME=]FILE… [--fail-on-warning]',
  summary: 'Reports names, missing descriptions and deprecations without a reason.',
  options: {
    name: { type: 'string' },
    schema: { type: 'string' },
    'routing-url': { type: 'string', multiple: true },
    'fail-on-warning': { type: 'boolean' },
  },
  async run(context) {
    const subgraphs = await readSubgraphs(context);
    const sources = toSources(subgraphs);
    const { lintSdl } = await import('@trestle/graph-checks/lint');
    const faults = subgraphs.flatMap(({ name, sdl }) => lintSdl(name, sdl));
    for (const fault of faults) context.reporter.fault(fault, sources);
    const errors = faults.filter(({ severity }) => severity === 'error').length;
    if (context.reporter.format === 'text')
      context.reporter.line(`Errors: ${String(errors)}, warnings: ${String(faults.length - errors)}.`);
    context.reporter.finish({ faults });
    return errors > 0 || (context.isSet('fail-on-warning') && faults.length > 0) ? EXIT.refused : EXIT.success;
  },
};

/** Returns the only argument. Throws a CommandError when there is another number of them. */
export function onePositional(positionals: readonly string[], what: string): string {
  const [only, ...rest] = positionals;
  if (only === undefined || rest.length > 0) throw usageError(`Name ${what}, and nothing else.`);
  return only;
}

/** Returns the error for something that the registry does not have. */
export function notFound(message: string): CommandError {
  return new CommandError(message, EXIT.server, 'NOT_FOUND');
}
