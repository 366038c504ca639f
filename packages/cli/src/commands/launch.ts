/** `launch list|show|rollback|promote`: what an environment serves, and has served. */
import type { Command, CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { stripControl } from '../terminal.ts';
import { notFound, onePositional } from './subgraph-read.ts';
import { readExpected, readNumber } from './subgraph-publish.ts';

const RELEASE = '{ number environment action promotedFrom actor message createdAt launch { id } canary { percent launch { id } } }';

interface Release {
  readonly number: number;
  readonly environment: string;
  readonly action: string;
  readonly promotedFrom: string | null;
  readonly actor: string;
  readonly message: string | null;
  readonly createdAt: string;
  readonly launch: { readonly id: string };
  readonly canary: { readonly percent: number; readonly launch: { readonly id: string } } | null;
}

/** The command `launch list`. */
export const launchList: Command = {
  words: 'launch list',
  usage: '[--first N]',
  summary: 'Lists the releases of an environment, the newest first.',
  options: { first: { type: 'string' } },
  takesNoArguments: true,
  async run(context) {
    const query = `query Launches($name: String!, $first: Int!) { environment(name: $name) { releases(first: $first) ${RELEASE} } }`;
    const variables = { name: context.environment(), first: readNumber(context, 'first', 20) };
    const { environment } = await context.registry().send<{ environment: { releases: Release[] } | null }>(query, variables);
    if (!environment) throw notFound(`Environment "${variables.name}" has no release.`);
    for (const release of environment.releases) context.reporter.line(describe(release));
    context.reporter.finish({ releases: environment.releases });
    return EXIT.success;
  },
};

/** The command `launch show`. */
export const launchShow: Command = {
  words: 'launch show',
  usage: 'LAUNCH',
  summary: 'Shows of which subgraphs a launch was composed.',
  options: {},
  async run(context) {
    const id = onePositional(context.positionals, 'a launch');
    const query = 'query Launch($id: ID!) { launch(id: $id) { id composer createdAt subgraphs { name url id } } }';
    const { launch } = await context.registry().send<{
      launch: { id: string; composer: string; createdAt: string; subgraphs: { name: string; url: string; id: string }[] } | null;
    }>(query, { id });
    if (!launch) throw notFound(`Launch "${id}" does not exist, or the token may not read it.`);
    context.reporter.line(stripControl(`${launch.id}  ${launch.composer}  ${launch.createdAt}`));
    for (const { name, url, id: version } of launch.subgraphs)
      context.reporter.line(stripControl(`  ${name}  ${url}  ${version.slice(0, 12)}`));
    context.reporter.finish({ launch });
    return EXIT.success;
  },
};

/** The command `launch rollback`. */
export const launchRollback: Command = {
  words: 'launch rollback',
  usage: '[--to RELEASE] [--expected-release N] [--message TEXT]',
  summary: 'Ends a canary, or serves an earlier launch again, by default the one before.',
  options: { to: { type: 'string' }, 'expected-release': { type: 'string' }, message: { type: 'string' } },
  takesNoArguments: true,
  async run(context) {
    const [to, message] = [context.text('to'), context.text('message')];
    const input = {
      environment: context.environment(),
      ...(to !== undefined && { to: readNumber(context, 'to', 0) }),
      ...readExpected(context),
      ...(message !== undefined && { message }),
    };
    return await change(context, `mutation Rollback($input: RollbackInput!) { release: rollback(input: $input) ${RELEASE} }`, input);
  },
};

/** The command `launch promote`. */
export const launchPromote: Command = {
  words: 'launch promote',
  usage: '[LAUNCH] [--percent N] [--from ENVIRONMENT] [--to ENVIRONMENT] [--expected-release N] [--message TEXT]',
  summary: 'Serves a launch of another environment, to all requests or to a share of them.',
  options: {
    ...{ from: { type: 'string' }, to: { type: 'string' }, launch: { type: 'string' } },
    ...{ percent: { type: 'string' }, 'expected-release': { type: 'string' }, message: { type: 'string' } },
  },
  async run(context) {
    const { positionals } = context;
    const launch = positionals.length > 0 ? onePositional(positionals, 'a launch') : context.text('launch');
    const [from, percent, message] = [context.text('from'), context.text('percent'), context.text('message')];
    const input = {
      to: context.text('to') ?? context.environment(),
      ...(from !== undefined && { from }),
      ...(launch !== undefined && { launch }),
      ...(percent !== undefined && { percent: readNumber(context, 'percent', 0) }),
      ...readExpected(context),
      ...(message !== undefined && { message }),
    };
    return await change(context, `mutation Promote($input: PromoteInput!) { release: promote(input: $input) ${RELEASE} }`, input);
  },
};

async function change(context: CommandContext, mutation: string, input: object) {
  const { release } = await context.registry().send<{ release: Release }>(mutation, { input });
  context.reporter.line(describe(release));
  context.reporter.finish({ release });
  return EXIT.success;
}

function describe({ number, environment, action, promotedFrom, actor, message, createdAt, launch, canary }: Release): string {
  const from = promotedFrom === null ? '' : ` from ${promotedFrom}`;
  const share = canary ? ` (${String(canary.percent)} % ${canary.launch.id})` : '';
  const words = message === null ? '' : `  ${message}`;
  return stripControl(
    `${environment} ${String(number)}  ${launch.id}  ${action.toLowerCase()}${from}${share}  ${createdAt}  ${actor}${words}`,
  );
}
