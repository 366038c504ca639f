/** `subgraph check`: asks the registry, or compares with a file, whether subgraphs may be published. */
import type { CheckReport } from '@trestle/graph-checks/check';
import type { GraphFault } from '@trestle/graph-checks/faults';
import type { RecordedUsage } from '@trestle/graph-checks/usage';
import type { Command, CommandContext } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { type LocalSubgraph, readConfig, readSubgraphs, readText, toSources, toSubgraphSources } from '../files.ts';
import { POLICY_OPTIONS, readPolicyOptions, toPolicy, toPolicyInput } from './check-policy.ts';
import { printReport, toDisagreementFault } from './check-output.ts';
import { toPrintedCosts } from './cost-output.ts';
import { type RegistryCheck, toPrintedReport } from './registry-check.ts';

const CHECK = `mutation Check($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) {
  id verdict launchId problems { code message places { subgraph line column } } hints { code message places { subgraph line column } }
  disagreements costs { maxCost compared grownCount overLimitCount operations { hash name before after requests percent isOverLimit isApproved } }
  usage { days operations requests isComplete } brokenOperations { hash name client messages }
  unlistedCount changes { ...Changes } contracts { name problems { code message places { subgraph line column } } changes { ...Changes } } } }
  fragment Changes on SchemaChange { id level kind coordinate message isApproved verdict affectedCount
    affected { hash name requests percent lastSeen clients { name version requests percent lastSeen } } }`;

/** The command `subgraph check`. */
export const subgraphCheck: Command = {
  words: 'subgraph check',
  usage:
    '[NAME=]FILE… [--name NAME --schema FILE] [--routing-url [NAME=]URL] [--against FILE] [--operations FILE] [POLICY]\n\nPOLICY: [--days N] [--minimum-count N] [--minimum-percent N] [--enough-days N] [--enough-requests N]\n  [--exclude-client NAME[@VERSION]]… [--exclude-operation NAME]… [--ignore-anonymous] [--inputs usage|always]\n  [--additions ignore|warn|fail] [--dangerous ignore|warn|fail] [--max-cost N] [--assumed-list-size N]',
  summary: 'Says whether subgraphs may be published: composition, changes, clients, lint.',
  options: {
    name: { type: 'string' },
    schema: { type: 'string' },
    'routing-url': { type: 'string', multiple: true },
    against: { type: 'string' },
    operations: { type: 'string' },
    ...POLICY_OPTIONS,
  },
  async run(context) {
    const subgraphs = await readSubgraphs(context);
    const against = context.text('against');
    return against === undefined ? await checkByRegistry(context, subgraphs) : await checkByFile(context, subgraphs, against);
  },
};

/** A check by the registry needs no composer here. */
const loadCheck = () => import('@trestle/graph-checks/check');

async function checkByRegistry(context: CommandContext, subgraphs: LocalSubgraph[]): Promise<ExitCode> {
  const { reporter } = context;
  const input = {
    environment: context.environment(),
    subgraphs: subgraphs.map(({ name, sdl, url }) => ({ name, sdl, ...(url !== undefined && { url }) })),
    policy: toPolicyInput(readPolicyOptions(context)),
  };
  reporter.progress(`Checking ${subgraphs.map(({ name }) => name).join(', ')} against ${input.environment}…`);
  const { checkSubgraphs } = await context.registry().send<{ checkSubgraphs: RegistryCheck }>(CHECK, { input });
  const { lintSdl } = await import('@trestle/graph-checks/lint');
  const lint = subgraphs.flatMap(({ name, sdl }) => lintSdl(name, sdl)).filter(({ code }) => code !== 'GRAPHQL_PARSE_FAILED');
  const report = toPrintedReport(checkSubgraphs, lint);
  const exit = printReport(report, reporter, toSources(subgraphs));
  if (reporter.format === 'text') reporter.line(`Check ${checkSubgraphs.id}`);
  reporter.finish({ check: { id: checkSubgraphs.id, launchId: checkSubgraphs.launchId, ...report } });
  return exit;
}

async function checkByFile(context: CommandContext, subgraphs: LocalSubgraph[], against: string): Promise<ExitCode> {
  const usage = await readUsage(context.text('operations'));
  const policy = toPolicy(readPolicyOptions(context));
  const current = await readGraph(against);
  const changed = subgraphs.map(({ name }) => name);
  const kept = current.subgraphs.filter(({ name }) => !changed.includes(name));
  const proposed = toSubgraphSources(subgraphs).map((each) => {
    const url = each.url === '' ? current.subgraphs.find(({ name }) => name === each.name)?.url : each.url;
    return { ...each, url: url ?? '' };
  });
  const { apiSdl: currentApiSdl, supergraphSdl: currentSupergraphSdl, secondOpinion } = current;
  const currentGraph = { currentApiSdl, currentSupergraphSdl };
  const { checkGraph } = await loadCheck();
  const report = await checkGraph({ subgraphs: [...kept, ...proposed], changed, ...currentGraph, usage, policy, secondOpinion });
  const costs = report.costs && toPrintedCosts(report.costs, policy.maxCost);
  const printed = { verdict: report.verdict, faults: faultsOf(report), changes: report.changes, costs };
  const exit = printReport(printed, context.reporter, toSources(subgraphs));
  context.reporter.finish({ check: { id: null, launchId: null, ...printed } });
  return exit;
}

/** Returns everything in a report that has a code and a message. */
function faultsOf({ composition, hints, lint, disagreements, documents, contracts }: CheckReport): GraphFault[] {
  const warnings = disagreements.map(({ message }) => toDisagreementFault(message));
  const shown = hints.filter(({ severity }) => severity !== 'info');
  return [...composition.errors, ...lint, ...documents, ...contracts.flatMap(({ errors }) => errors), ...shown, ...warnings];
}

/** Returns the subgraphs, the public schema and the supergraph of a file: a supergraph, or a configuration of `supergraph compose`. */
async function readGraph(path: string) {
  if (/\.ya?ml$/u.test(path)) {
    const subgraphs = toSubgraphSources(await readConfig(path));
    const { checkGraph } = await loadCheck();
    const { apiSdl, supergraphSdl } = await checkGraph({ subgraphs, changed: [] });
    if (apiSdl === null || supergraphSdl === null)
      throw new CommandError(`The subgraphs of ${path} do not compose.`, EXIT.usage, 'INVALID_CONFIG');
    return { subgraphs, apiSdl, supergraphSdl, secondOpinion: true };
  }
  const supergraphSdl = await readText(path);
  const { extractSubgraphs } = await import('@trestle/graph-checks/extract');
  const { toApiSdl } = await import('@trestle/graph-checks/compose');
  try {
    // What extraction writes is meant for Apollo's composer alone.
    return { subgraphs: extractSubgraphs(supergraphSdl), apiSdl: toApiSdl(supergraphSdl), supergraphSdl, secondOpinion: false };
  } catch (error) {
    throw new CommandError(`${path} is not a supergraph: ${(error as Error).message}`, EXIT.usage, 'INVALID_SUPERGRAPH');
  }
}

/** Returns recorded operations: a JSON file with the form of RecordedUsage (packages/graph-checks/src/usage.ts). */
async function readUsage(path: string | undefined): Promise<RecordedUsage | undefined> {
  if (path === undefined) return undefined;
  try {
    const usage = JSON.parse(await readText(path)) as Partial<RecordedUsage>;
    const isValid = typeof usage.days === 'number' && Array.isArray(usage.operations) && usage.operations.every(isOperation);
    if (!isValid)
      throw new Error('it must have `days` and `operations` with `hash`, `text` and `clients`; `seenInputs` must be a list of strings');
    return usage as RecordedUsage;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} is invalid: ${(error as Error).message}.`, EXIT.usage, 'INVALID_OPERATIONS');
  }
}

function isOperation(operation: unknown): boolean {
  const { hash, text, clients, seenInputs = [] } = (operation ?? {}) as Record<string, unknown>;
  const isClient = (client: unknown) => {
    const { name, count, lastSeen } = (client ?? {}) as Record<string, unknown>;
    return (typeof name === 'string' || name === null) && typeof count === 'number' && typeof lastSeen === 'string';
  };
  // With another form the operation would count as one that uses nothing.
  const areInputs = Array.isArray(seenInputs) && seenInputs.every((each) => typeof each === 'string');
  return typeof hash === 'string' && typeof text === 'string' && areInputs && Array.isArray(clients) && clients.every(isClient);
}
