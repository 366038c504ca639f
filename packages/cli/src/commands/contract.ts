/** `contract list|create|update|show|delete`: variants of an environment's graph by tags. The options are rover's. */
import type { Command, CommandContext } from '../command.ts';
import { EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { writeResult } from '../files.ts';
import { stripControl } from '../terminal.ts';
import { type RegistryProblem, toFault } from './registry-check.ts';
import { notFound, onePositional } from './subgraph-read.ts';

const CONTRACT = '{ name version include exclude removeUnreachableTypes actor message createdAt }';
const RESULT = `{ contract ${CONTRACT} release { number launch { id } } isUnchanged problems { code message places { subgraph line column } } }`;

/** A contract of the registry's API. */
interface Contract {
  readonly name: string;
  readonly version: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly removeUnreachableTypes: boolean;
  readonly actor: string;
  readonly message: string | null;
  readonly createdAt: string;
}

/** The schemas of a contract. */
export interface ContractSchemas {
  readonly name: string;
  readonly supergraphSdl: string;
  readonly apiSdl: string;
}

interface ContractResult {
  readonly contract: Contract | null;
  readonly release: { readonly number: number; readonly launch: { readonly id: string } } | null;
  readonly isUnchanged: boolean;
  readonly problems: readonly RegistryProblem[];
}

/** The command `contract list`. */
export const contractList: Command = {
  words: 'contract list',
  usage: '',
  summary: 'Lists the contracts of an environment.',
  options: {},
  takesNoArguments: true,
  async run(context) {
    const query = `query Contracts($name: String!) { environment(name: $name) { contracts ${CONTRACT} } }`;
    const variables = { name: context.environment() };
    const { environment } = await context.registry().send<{ environment: { contracts: Contract[] } | null }>(query, variables);
    if (!environment) throw notFound(`Environment "${variables.name}" has no release.`);
    for (const contract of environment.contracts) context.reporter.line(describe(contract));
    context.reporter.finish({ contracts: environment.contracts });
    return EXIT.success;
  },
};

const FILTER_OPTIONS = {
  'include-tag': { type: 'string', multiple: true },
  'exclude-tag': { type: 'string', multiple: true },
  'hide-unreachable-types': { type: 'boolean' },
  'no-hide-unreachable-types': { type: 'boolean' },
  message: { type: 'string' },
} as const;
const FILTER_USAGE = 'NAME [--include-tag TAG]… [--exclude-tag TAG]… [--no-hide-unreachable-types] [--message TEXT]';

/** The command `contract create`. */
export const contractCreate: Command = {
  words: 'contract create',
  usage: FILTER_USAGE,
  summary: 'Creates a contract: a variant of the graph by tags, with its own public schema.',
  options: FILTER_OPTIONS,
  run: (context) => change(context, `mutation Create($input: ContractInput!) { result: createContract(input: $input) ${RESULT} }`),
};

/** The command `contract update`. */
export const contractUpdate: Command = {
  words: 'contract update',
  usage: FILTER_USAGE,
  summary: 'Replaces the tags of a contract.',
  options: FILTER_OPTIONS,
  run: (context) => change(context, `mutation Update($input: ContractInput!) { result: updateContract(input: $input) ${RESULT} }`),
};

/** The command `contract show`. */
export const contractShow: Command = {
  words: 'contract show',
  usage: 'NAME [--api] [--supergraph] [--output FILE]',
  summary: "Shows a contract, with --api its clients' schema, or with --supergraph its supergraph.",
  options: { api: { type: 'boolean' }, supergraph: { type: 'boolean' }, output: { type: 'string' } },
  async run(context) {
    const name = onePositional(context.positionals, 'a contract');
    const contract = await fetchContract<Contract>(context, { name, fields: `${CONTRACT.slice(0, -1)} supergraphSdl apiSdl }` });
    if (context.isSet('api')) await writeResult(contract.apiSdl, context);
    else if (context.isSet('supergraph')) await writeResult(contract.supergraphSdl, context);
    else context.reporter.line(describe(contract));
    context.reporter.finish({ contract });
    return EXIT.success;
  },
};

/** The command `contract delete`. */
export const contractDelete: Command = {
  words: 'contract delete',
  usage: 'NAME --confirm [--message TEXT]',
  summary: 'Deletes a contract. Gateways that serve it keep what they have.',
  options: { confirm: { type: 'boolean' }, message: { type: 'string' } },
  async run(context) {
    const name = onePositional(context.positionals, 'a contract');
    if (!context.isSet('confirm')) throw usageError('Gateways get no new schema of the contract. Pass --confirm to delete it.');
    const message = context.text('message');
    const input = { environment: context.environment(), name, ...(message !== undefined && { message }) };
    const mutation = 'mutation Delete($input: DeleteContractInput!) { release: deleteContract(input: $input) { number launch { id } } }';
    const { release } = await context.registry().send<{ release: { number: number } }>(mutation, { input });
    context.reporter.line(`Deleted ${name} with release ${String(release.number)} of ${input.environment}.`);
    context.reporter.finish({ release });
    return EXIT.success;
  },
};

/** Returns a contract of the environment, with its schemas and the given fields. Throws a CommandError when there is none. */
export async function fetchContract<Fields>(
  context: CommandContext,
  { name, fields }: { readonly name: string; readonly fields: string },
): Promise<Fields & ContractSchemas> {
  const query = `query Contract($environment: String!, $name: String!) { environment(name: $environment) { contract(name: $name) ${fields} } }`;
  const variables = { environment: context.environment(), name };
  const { environment } = await context
    .registry()
    .send<{ environment: { contract: (Fields & ContractSchemas) | null } | null }>(query, variables);
  if (!environment?.contract) throw notFound(`Environment "${variables.environment}" has no contract "${name}".`);
  return environment.contract;
}

async function change(context: CommandContext, mutation: string): Promise<ExitCode> {
  const { reporter } = context;
  const [name, message] = [onePositional(context.positionals, 'a contract'), context.text('message')];
  if (context.isSet('hide-unreachable-types') && context.isSet('no-hide-unreachable-types'))
    throw usageError('Pass --hide-unreachable-types or --no-hide-unreachable-types, not both.');
  const input = {
    ...{ environment: context.environment(), name, include: context.list('include-tag'), exclude: context.list('exclude-tag') },
    removeUnreachableTypes: !context.isSet('no-hide-unreachable-types'),
    ...(message !== undefined && { message }),
  };
  const { result } = await context.registry().send<{ result: ContractResult }>(mutation, { input });
  const { contract, release, isUnchanged, problems } = result;
  for (const problem of problems) reporter.fault(toFault(problem, 'error'), new Map());
  if (problems.length > 0) reporter.line('Nothing was changed: the contract cannot be made of the graph.');
  if (contract) reporter.line(describe(contract));
  if (release && !isUnchanged) reporter.line(`Served from release ${String(release.number)} of ${input.environment} on.`);
  if (isUnchanged) reporter.line('Nothing has changed.');
  reporter.finish({ contract, release, isUnchanged, problems });
  return problems.length > 0 ? EXIT.refused : EXIT.success;
}

function describe({ name, version, include, exclude, removeUnreachableTypes, actor, message, createdAt }: Contract): string {
  const tags = [
    ...(include.length > 0 ? [`include ${include.join(', ')}`] : []),
    ...(exclude.length > 0 ? [`exclude ${exclude.join(', ')}`] : []),
    ...(removeUnreachableTypes ? [] : ['with unreachable types']),
  ];
  const words = message === null ? '' : `  ${message}`;
  const selected = tags.length > 0 ? tags.join('; ') : 'everything';
  return stripControl(`${name} ${String(version)}  ${selected}  ${createdAt}  ${actor}${words}`);
}
