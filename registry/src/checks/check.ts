/** Checks a proposed change: what it would do to the graph, to clients and to registered operations; and approves checks. */
import type { Database } from '@trestle/chassis/database/database';
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail } from '@trestle/schema/errors';
import type { ComposeOutcome } from '../composition/compose-task.ts';
import type { Composer } from '../composition/composer.ts';
import type { RecordedUsage } from '@trestle/graph-checks/usage';
import type { MadeContract } from '../composition/contract-task.ts';
import type { FoundCosts } from '../composition/cost-findings.ts';
import { changeVerdictOf } from '../composition/decision.ts';
import { makeForCheck } from '../contracts/check-contracts.ts';
import { type SubgraphInput, checkEnvironment, checkSubgraphs, checkText } from '../publishing/input-rules.ts';
import { launchIdOf } from '../publishing/launch-id.ts';
import { applyChange } from '../publishing/publish.ts';
import type { Check, CheckResult, CheckedCosts, CheckedUsage, Operation, SchemaChange, UnlistedChange } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { type CheckDefaults, type PolicyInput, readPolicy, readRecordedUsage } from '../usage/recorded-usage.ts';
import { createUsageReads } from '../usage/usage-reads.ts';

/** What checks need. */
export interface Checking {
  readonly database: Pick<Database, 'query'>;
  /** One that no publish waits for: a publish holds the lock of its environment while it composes. */
  readonly checkComposer: Composer;
  readonly createId: CreateId;
  /** How checks look at usage, where a request does not say otherwise. */
  readonly checkDefaults: CheckDefaults;
  readonly now: () => number;
}

/** A proposed change. */
export interface CheckRequest {
  readonly environment: string;
  readonly subgraphs: readonly SubgraphInput[];
  readonly deleted: readonly string[];
  readonly policy?: PolicyInput | null | undefined;
  readonly actor: string;
}

/** The most operations that one check validates; the page in which they are read. */
const MAX_OPERATIONS = 5000;
const PAGE = 500;
/** As many changes that are not listed, and as many costs, can be approved at once. */
const MAX_UNLISTED = 10_000;
const MAX_OVER_LIMIT = 1000;

/** Runs a check, and keeps it. Throws as `publish` for invalid input. */
export async function runCheck(
  request: CheckRequest,
  { database, checkComposer: composer, createId, checkDefaults, now }: Checking,
): Promise<Check> {
  const { environment, subgraphs, deleted, actor } = request;
  checkEnvironment(environment);
  checkSubgraphs(subgraphs, deleted);
  const { days, ...policy } = readPolicy(request.policy, checkDefaults);
  const store = createStore(database.query);
  const current = await store.findCurrentRelease(environment);
  const next = await applyChange(request, current, store);
  const launch = current && (await store.findLaunch(current.launchId));
  const { operations, areAll } = await listOperations(environment, store);
  const recorded = await readRecordedUsage({ environment, days, now: now() }, createUsageReads(database.query));
  const usage = recorded && { ...recorded, isComplete: recorded.isComplete !== false && areAll };
  const proposed = next.map(({ name, url, sdl }) => ({ name, url, sdl }));
  const outcome = await composer.compose({
    subgraphs: proposed,
    compareWith: {
      ...{ apiSdl: launch?.apiSdl, supergraphSdl: launch?.supergraphSdl, operations, usage, policy },
      changed: subgraphs.map(({ name }) => name),
    },
  });
  const decideBy = { usage, policy };
  const contracts = outcome.ok ? await makeForCheck(outcome.supergraphSdl, current, { store, composer, decideBy }) : [];
  const id = createId('chk');
  await store.insertCheck({
    id,
    environment,
    subgraphs: [...subgraphs.map(({ name }) => name), ...deleted],
    launchId: outcome.ok ? launchIdOf(next) : null,
    result: { ...(await toResult(outcome, { environment, store, contracts })), usage: usage ? toCheckedUsage(usage) : null },
    actor,
  });
  return requireCheck(id, store);
}

/**
 * Returns the operations that a check validates, and whether they are all that are registered: otherwise no breaking change passes as one that nothing
 * uses.
 */
async function listOperations(
  environment: string,
  store: Store,
): Promise<{ readonly operations: readonly Operation[]; readonly areAll: boolean }> {
  const operations: Operation[] = [];
  for (;;) {
    const page = await store.listOperations(environment, { first: PAGE, after: operations.at(-1)?.id ?? null });
    operations.push(...page);
    if (page.length < PAGE) return { operations: operations.slice(0, MAX_OPERATIONS), areAll: operations.length <= MAX_OPERATIONS };
    if (operations.length > MAX_OPERATIONS) return { operations: operations.slice(0, MAX_OPERATIONS), areAll: false };
  }
}

interface ResultOptions {
  readonly environment: string;
  readonly store: Store;
  readonly contracts: readonly MadeContract[];
}

async function toResult(outcome: ComposeOutcome, { environment, store, contracts }: ResultOptions): Promise<CheckResult> {
  const { hints, disagreements, lint } = outcome;
  if (!outcome.ok) return { problems: outcome.problems, hints, disagreements, lint, changes: [], brokenOperations: [], contracts: [] };
  const { changes, brokenOperations, costs } = outcome;
  const parts = [outcome, ...contracts.filter((contract) => contract.ok)];
  const unlisted = parts.flatMap((part) => part.unlisted);
  const ids = [...listAccepted(parts.flatMap((part) => part.changes)), ...unlisted.map(({ id }) => id), ...(costs?.overLimit ?? [])];
  const approved = await store.listApprovedChanges(environment, ids);
  const decide = (given: readonly SchemaChange[]) => given.map((change) => ({ ...change, isApproved: approved.has(change.id) }));
  const checked = contracts.map((contract) => {
    const { name } = contract;
    return contract.ok ? { name, problems: [], changes: decide(contract.changes) } : { name, problems: contract.problems, changes: [] };
  });
  const findings = { problems: [], hints, disagreements, lint, changes: decide(changes), brokenOperations, contracts: checked };
  return { ...findings, unlisted: listOpen(unlisted, approved), costs: costs && toCheckedCosts(costs, approved) };
}

/** Those that fail the check are first, so that an approval of as many as are kept never lets a check pass that has more of them. */
function listOpen(unlisted: readonly UnlistedChange[], approved: ReadonlySet<string>): UnlistedChange[] {
  const open = unlisted.filter(({ id }) => !approved.has(id));
  const [failed, others] = [open.filter(({ verdict }) => verdict === 'FAIL'), open.filter(({ verdict }) => verdict !== 'FAIL')];
  return [...failed, ...others].slice(0, MAX_UNLISTED);
}

function toCheckedCosts({ operations, overLimit, ...costs }: FoundCosts, approved: ReadonlySet<string>): CheckedCosts {
  return {
    ...costs,
    operations: operations.map((operation) => ({ ...operation, isApproved: approved.has(operation.id) })),
    overLimit: overLimit.filter((id) => !approved.has(id)).slice(0, MAX_OVER_LIMIT),
  };
}

/** Returns the changes for all clients, and those for the clients of contracts. */
function listAllChanges({ changes, contracts = [] }: CheckResult) {
  return [changes, ...contracts.map((contract) => contract.changes)].flat();
}

/** Whether nothing of it can be published: the graph does not compose, or a contract cannot be made of it. */
function isImpossible({ problems, contracts = [] }: CheckResult): boolean {
  return problems.length > 0 || contracts.some((contract) => contract.problems.length > 0);
}

function toCheckedUsage({ days, operations, isComplete = true }: RecordedUsage): CheckedUsage {
  const requests = operations.flatMap(({ clients }) => clients.map(({ count }) => count)).reduce((sum, each) => sum + each, 0);
  return { days, isComplete, operations: operations.length, requests };
}

/** Returns the ids of the changes that an approval accepts: not those that pass because no client uses what they break, for one may do so later. */
function listAccepted(changes: readonly SchemaChange[]): string[] {
  return changes.filter((change) => ['FAIL', 'NOT_ENOUGH_DATA'].includes(changeVerdictOf(change))).map(({ id }) => id);
}

/** Returns the verdict of a check, with its approval. */
export function verdictOf({ result, approval }: Check): 'PASSED' | 'NOT_ENOUGH_DATA' | 'FAILED' | 'APPROVED' {
  const open = listAllChanges(result).filter(({ isApproved }) => !isApproved);
  const verdicts = new Set([...open.map(changeVerdictOf), ...(result.unlisted ?? []).map(({ verdict }) => verdict)]);
  const isTooCostly = (result.costs?.overLimit.length ?? 0) > 0;
  const isFailed = isImpossible(result) || result.brokenOperations.length > 0 || isTooCostly || verdicts.has('FAIL');
  if (!isFailed && !verdicts.has('NOT_ENOUGH_DATA')) return 'PASSED';
  return approval ? 'APPROVED' : isFailed ? 'FAILED' : 'NOT_ENOUGH_DATA';
}

/** The approval of a check. */
export interface ApprovalRequest {
  readonly id: string;
  readonly approver: string;
  readonly reason: string;
  readonly actor: string;
}

/**
 * Approves a check: the changes that fail it or lack data, and the costs above its limit, are accepted in its environment from now on. Throws
 * NOT_FOUND, BUSINESS_RULE_VIOLATION for a check that does not compose or has passed, and CONFLICT for one that is approved already.
 */
export async function approveCheck(request: ApprovalRequest, database: Pick<Database, 'query'>): Promise<Check> {
  const { id, approver, reason, actor } = request;
  checkText(approver, { field: 'approver', min: 1, max: 200 });
  checkText(reason, { field: 'reason', min: 1, max: 2000 });
  const store = createStore(database.query);
  const check = await requireCheck(id, store);
  if (isImpossible(check.result))
    throw fail('BUSINESS_RULE_VIOLATION', 'The check cannot be approved: the graph or one of its contracts does not compose.');
  if (verdictOf(check) === 'PASSED') throw fail('BUSINESS_RULE_VIOLATION', 'The check has passed. It needs no approval.');
  const { unlisted = [], costs } = check.result;
  const changes = [...listAccepted(listAllChanges(check.result)), ...unlisted.map(({ id: each }) => each), ...(costs?.overLimit ?? [])];
  const isNew = await store.insertApproval({ checkId: id, environment: check.environment, changes, approver, reason, actor });
  if (!isNew) throw fail('CONFLICT', 'The check is approved already.');
  return requireCheck(id, store);
}

async function requireCheck(id: string, store: Store): Promise<Check> {
  const check = await store.findCheck(id);
  if (!check) throw fail('NOT_FOUND', 'The check does not exist.');
  return check;
}
