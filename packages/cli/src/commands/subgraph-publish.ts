/** `subgraph publish` and `subgraph delete`: change the graph of an environment, all at once or not at all. */
import type { Command, CommandContext } from '../command.ts';
import { EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { readAssignments, readSubgraphs, toSources } from '../files.ts';
import type { Sources } from '../report.ts';
import { waitForSdl } from '../wait-for.ts';
import { type RegistryProblem, toFault } from './registry-check.ts';

const RESULT = `{ isUnchanged release { number launch { id } } problems { code message places { subgraph line column } } }`;
const PUBLISH = `mutation Publish($input: PublishSubgraphsInput!) { result: publishSubgraphs(input: $input) ${RESULT} }`;
const DELETE = `mutation Delete($input: DeleteSubgraphsInput!) { result: deleteSubgraphs(input: $input) ${RESULT} }`;
const DEFAULT_WAIT_SECONDS = 300;

interface PublishResult {
  readonly isUnchanged: boolean;
  readonly release: { readonly number: number; readonly launch: { readonly id: string } } | null;
  readonly problems: readonly RegistryProblem[];
}

/** The command `subgraph publish`. */
export const subgraphPublish: Command = {
  words: 'subgraph publish',
  usage:
    '[NAME=]FILE… [--name NAME --schema FILE] [--routing-url [NAME=]URL] [--wait-for [NAME=]URL] [--wait-seconds N] [--expected-release N] [--message TEXT]',
  summary: 'Publishes subgraphs: all of them, or none when the graph does not compose.',
  options: {
    name: { type: 'string' },
    schema: { type: 'string' },
    'routing-url': { type: 'string', multiple: true },
    'wait-for': { type: 'string', multiple: true },
    'wait-seconds': { type: 'string' },
    'expected-release': { type: 'string' },
    message: { type: 'string' },
  },
  async run(context) {
    const { reporter } = context;
    const subgraphs = await readSubgraphs(context);
    const waits = readAssignments(context.list('wait-for'), 'wait-for', subgraphs);
    const timeoutMs = readNumber(context, 'wait-seconds', DEFAULT_WAIT_SECONDS) * 1000;
    const input = {
      ...readChange(context),
      subgraphs: subgraphs.map(({ name, sdl, url }) => ({ name, sdl, ...(url !== undefined && { url }) })),
    };
    // The registry is known before a long wait begins.
    const registry = context.registry();
    for (const [name, url] of waits) {
      const sdl = subgraphs.find((each) => each.name === name)?.sdl ?? '';
      await waitForSdl({ url, sdl, timeoutMs, onProgress: reporter.progress });
    }
    reporter.progress(`Publishing ${subgraphs.map(({ name }) => name).join(', ')} to ${input.environment}…`);
    const { result } = await registry.send<{ result: PublishResult }>(PUBLISH, { input });
    return report(result, context, toSources(subgraphs));
  },
};

/** The command `subgraph delete`. */
export const subgraphDelete: Command = {
  words: 'subgraph delete',
  usage: 'NAME… --confirm [--expected-release N] [--message TEXT]',
  summary: 'Deletes subgraphs, if the rest of the graph composes.',
  options: { confirm: { type: 'boolean' }, 'expected-release': { type: 'string' }, message: { type: 'string' } },
  async run(context) {
    if (context.positionals.length === 0) throw usageError('Name at least one subgraph.');
    if (!context.isSet('confirm')) throw usageError('Clients lose what the subgraphs serve. Pass --confirm to delete them.');
    const input = { ...readChange(context), subgraphs: context.positionals };
    const { result } = await context.registry().send<{ result: PublishResult }>(DELETE, { input });
    return report(result, context, new Map());
  },
};

function readChange(context: CommandContext) {
  const message = context.text('message');
  return {
    environment: context.environment(),
    ...(message !== undefined && { message }),
    ...readExpected(context),
  };
}

/** Returns the member of an input for the option `--expected-release`; none without the option. */
export function readExpected(context: CommandContext): { readonly expectedRelease?: number } {
  return context.text('expected-release') === undefined ? {} : { expectedRelease: readNumber(context, 'expected-release', 0) };
}

/** Returns a whole number of an option. Throws a CommandError for anything else. */
export function readNumber({ text }: CommandContext, option: string, fallback: number): number {
  const value = text(option);
  if (value === undefined) return fallback;
  if (!/^\d{1,9}$/u.test(value)) throw usageError(`--${option} must be a whole number, not "${value}".`);
  return Number(value);
}

function report(result: PublishResult, { reporter, environment }: CommandContext, sources: Sources): ExitCode {
  const { problems, release, isUnchanged } = result;
  for (const problem of problems) reporter.fault(toFault(problem, 'error'), sources);
  const isRefused = problems.length > 0;
  if (isRefused) reporter.line('Nothing was published: the graph does not compose.');
  else if (release) {
    const served = `release ${String(release.number)} of ${environment()}, launch ${release.launch.id.slice(0, 12)}`;
    reporter.line(isUnchanged ? `Nothing has changed: ${served}.` : `Published as ${served}.`);
  }
  reporter.finish({ isUnchanged, release, problems });
  return isRefused ? EXIT.refused : EXIT.success;
}
