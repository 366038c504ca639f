/** The resolvers of registry.graphql. Every root field needs a token; the fields below it read what the token was admitted to. */
import { fail } from '@trestle/schema/errors';
import { approveCheck, runCheck, verdictOf } from '../checks/check.ts';
import { contractResolvers } from './contract-resolvers.ts';
import { listVersionsOf, publish } from '../publishing/publish.ts';
import { promote, returnCanary, rollBack } from '../publishing/release.ts';
import type { Check, CheckedCosts, Launch, Release, TokenScope } from '../records.ts';
import { actorOf, mayRead, requireAccess } from '../tokens/access.ts';
import { createToken, requireNarrower } from '../tokens/create-token.ts';
import type { RegistryContext } from './context.ts';
import type {
  CheckInput,
  CreateTokenInput,
  DeleteInput,
  ApproveInput,
  PromoteInput,
  PublishInput,
  PushInput,
  RemoveInput,
  ReturnCanaryInput,
  RollbackInput,
} from './inputs.ts';
import { type Page, toFirst } from './page.ts';
import { pushOperations } from './push-operations.ts';
import { removeOperations } from './remove-operations.ts';
import { findUsage, usageResolvers } from './usage-resolvers.ts';

const MAX_NUMBER = 2_147_483_647;

type Context = RegistryContext;
async function listEnvironments(_: unknown, __: unknown, { store, requireToken }: Context): Promise<Release[]> {
  const token = await requireToken();
  return (await store.listCurrentReleases()).filter(({ environment }) => mayRead(token, environment));
}

async function findEnvironment(_: unknown, { name }: { name: string }, { store, requireToken }: Context): Promise<Release | undefined> {
  requireAccess(await requireToken(), { scopes: [], environments: [name] });
  return store.findCurrentRelease(name);
}

async function findLaunch(_: unknown, { id }: { id: string }, { store, requireToken }: Context): Promise<Launch | undefined> {
  const token = await requireToken();
  const environments = await store.listEnvironmentsOf(id);
  return environments.some((environment) => mayRead(token, environment)) ? store.findLaunch(id) : undefined;
}

async function findCheck(_: unknown, { id }: { id: string }, { store, requireToken }: Context): Promise<Check | undefined> {
  const token = await requireToken();
  const check = await store.findCheck(id);
  return check && mayRead(token, check.environment) ? check : undefined;
}

async function listTokens(_: unknown, __: unknown, { store, requireToken }: Context) {
  const token = await requireToken();
  requireAccess(token, { scopes: ['ADMIN'] });
  return store.listTokens(token);
}

/** Returns who acts, when the token of the request has one of the scopes for these environments and subgraphs. */
async function admit(
  context: Context,
  scopes: readonly TokenScope[],
  limits: { environments: string[]; subgraphs?: string[] },
): Promise<string> {
  const token = await context.requireToken();
  requireAccess(token, { scopes, ...limits });
  return actorOf(token);
}

async function publishSubgraphs(_: unknown, { input }: PublishInput, context: Context) {
  const limits = { environments: [input.environment], subgraphs: input.subgraphs.map(({ name }) => name) };
  const actor = await admit(context, ['PUBLISH'], limits);
  return publish({ ...input, deleted: [], actor }, context.registry);
}

async function deleteSubgraphs(_: unknown, { input }: DeleteInput, context: Context) {
  const actor = await admit(context, ['PUBLISH'], { environments: [input.environment], subgraphs: [...input.subgraphs] });
  return publish({ ...input, subgraphs: [], deleted: input.subgraphs, actor }, context.registry);
}

async function checkSubgraphs(_: unknown, { input }: CheckInput, context: Context) {
  const actor = await admit(context, ['CHECK', 'PUBLISH'], { environments: [input.environment] });
  return runCheck({ ...input, actor }, context.registry);
}

async function approve(_: unknown, { input }: ApproveInput, context: Context) {
  const check = await findCheck(undefined, input, context);
  if (!check) throw fail('NOT_FOUND', 'The check does not exist.');
  const actor = await admit(context, ['APPROVE'], { environments: [check.environment] });
  return approveCheck({ ...input, actor }, context.registry.database);
}

async function rollback(_: unknown, { input }: RollbackInput, context: Context) {
  const actor = await admit(context, ['RELEASE'], { environments: [input.environment] });
  return rollBack({ ...input, actor }, context.registry);
}

async function promoteLaunch(_: unknown, { input }: PromoteInput, context: Context) {
  const { from, to } = input;
  const actor = await admit(context, ['RELEASE'], { environments: typeof from === 'string' ? [from, to] : [to] });
  const token = await context.requireToken();
  return promote({ ...input, actor, mayUse: (environment) => mayRead(token, environment) }, context.registry);
}

async function endCanary(_: unknown, { input }: ReturnCanaryInput, context: Context) {
  const actor = await admit(context, ['CANARY', 'RELEASE'], { environments: [input.environment] });
  return returnCanary({ ...input, actor }, context.registry);
}

async function registerOperations(_: unknown, { input }: PushInput, context: Context) {
  await admit(context, ['CHECK'], { environments: [input.environment] });
  const { createId, checkComposer: composer } = context.registry;
  return pushOperations(input, { store: context.store, createId, composer });
}

async function withdrawOperations(_: unknown, { input }: RemoveInput, context: Context) {
  await admit(context, ['CHECK'], { environments: [input.environment] });
  return removeOperations(input, context.store);
}

async function addToken(_: unknown, { input }: CreateTokenInput, { registry, store, requireToken }: Context) {
  const token = await requireToken();
  requireAccess(token, { scopes: ['ADMIN'] });
  requireNarrower(input, token);
  return createToken(input, { store, createId: registry.createId });
}

async function revokeToken(_: unknown, { id }: { id: string }, { store, requireToken }: Context) {
  const token = await requireToken();
  requireAccess(token, { scopes: ['ADMIN'] });
  const revoked = await store.revokeToken(id, token);
  if (!revoked) throw fail('NOT_FOUND', 'The token does not exist.');
  return revoked;
}

/** The resolvers of all fields that are not properties. An environment is represented by its current release. */
export const resolvers = {
  Query: { environments: listEnvironments, environment: findEnvironment, launch: findLaunch, check: findCheck, tokens: listTokens },
  Mutation: {
    ...{
      publishSubgraphs,
      deleteSubgraphs,
      checkSubgraphs,
      approveCheck: approve,
      rollback,
      promote: promoteLaunch,
      returnCanary: endCanary,
    },
    ...{ pushOperations: registerOperations, removeOperations: withdrawOperations, createToken: addToken, revokeToken },
    ...contractResolvers.Mutation,
  },
  Environment: {
    ...contractResolvers.Environment,
    name: ({ environment }: Release) => environment,
    release: (release: Release) => release,
    releases: ({ environment }: Release, page: Page & { before?: number | null }, { store }: Context) =>
      store.listReleases(environment, { first: toFirst(page), before: page.before ?? MAX_NUMBER }),
    subgraphs: (release: Release, _: unknown, { store }: Context) => listVersionsOf(release, store),
    subgraph: async (release: Release, { name }: { name: string }, { store }: Context) =>
      (await listVersionsOf(release, store)).find((version) => version.name === name),
    checks: ({ environment }: Release, page: Page, { store }: Context) => store.listChecks(environment, toFirst(page)),
    operations: ({ environment }: Release, page: Page & { after?: string | null }, { store }: Context) =>
      store.listOperations(environment, { first: toFirst(page), after: page.after ?? null }),
    usage: findUsage,
  },
  ...usageResolvers,
  Release: {
    ...contractResolvers.Release,
    launch: ({ launchId }: Release, _: unknown, { store }: Context) => store.findLaunch(launchId),
    canary: ({ canaryLaunchId: launchId, canaryPercent: percent }: Release) => (launchId === null ? null : { launchId, percent }),
  },
  Canary: { launch: ({ launchId }: Pick<Release, 'launchId'>, _: unknown, { store }: Context) => store.findLaunch(launchId) },
  Launch: { subgraphs: ({ versions }: Launch, _: unknown, { store }: Context) => store.listVersions(versions) },
  Contract: contractResolvers.Contract,
  ContractResult: contractResolvers.ContractResult,
  Check: {
    ...contractResolvers.Check,
    verdict: verdictOf,
    problems: ({ result }: Check) => result.problems,
    hints: ({ result }: Check) => result.hints,
    disagreements: ({ result }: Check) => result.disagreements,
    lint: ({ result }: Check) => result.lint,
    changes: ({ result }: Check) => result.changes,
    unlistedCount: ({ result }: Check) => result.unlisted?.length ?? 0,
    brokenOperations: ({ result }: Check) => result.brokenOperations,
    usage: ({ result }: Check) => result.usage ?? null,
    costs: ({ result }: Check) => result.costs ?? null,
  },
  CheckedCosts: {
    maxCost: ({ maxCost }: CheckedCosts) => (maxCost > 0 ? maxCost : null),
    overLimitCount: ({ overLimit }: CheckedCosts) => overLimit.length,
  },
};
