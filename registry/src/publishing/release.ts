/** Serves launches that exist: earlier ones of an environment, and those of another one. */
import type { Query } from '@trestle/chassis/database/query';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { keepContracts, prepareContracts } from '../contracts/prepare-contracts.ts';
import { NO_CANARY, type Release } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { checkEnvironment, checkText } from './input-rules.ts';
import { MESSAGE_LENGTH, type Publishing, requireExpected } from './publish.ts';

/** Where to roll back. */
export interface RollbackRequest {
  readonly environment: string;
  /** The number of a release; default: the current one without its canary, else the newest before it that has another launch. */
  readonly to?: number | null | undefined;
  /** The release that is to be undone. */
  readonly expectedRelease?: number | null | undefined;
  readonly message?: string | null | undefined;
  readonly actor: string;
}

/**
 * Serves an earlier launch again, as a new release. Throws NOT_FOUND when there is none, and CONFLICT when it is the current one, or when
 * `expectedRelease` is not the current one: without it, a rollback that is sent twice serves again what the first one has undone.
 */
export async function rollBack(request: RollbackRequest, { database, composer, takeTurn, onRelease }: Publishing): Promise<Release> {
  const { environment, to, expectedRelease, message, actor } = request;
  checkEnvironment(environment);
  checkText(message ?? '', MESSAGE_LENGTH);
  const write = async (query: Query): Promise<Release> => {
    const store = createStore(query);
    await store.lockEnvironment(environment);
    const current = await requireRelease(environment, store);
    requireExpected(current, expectedRelease);
    const target = typeof to === 'number' ? await store.findRelease(environment, to) : await findBack(current, store);
    if (!target)
      throw fail(
        'NOT_FOUND',
        `The environment \`${environment}\` has no ${typeof to === 'number' ? `release ${String(to)}` : 'earlier release to go back to'}.`,
      );
    const { launchId } = target;
    return insertNext(current, {
      ...{ store, composer },
      release: { environment, launchId, action: 'ROLLBACK', promotedFrom: null, actor, message: message ?? null, ...NO_CANARY },
    });
  };
  const release = await takeTurn(() => database.transact(write));
  onRelease(release);
  return release;
}

/** A rollback ends a canary first. */
function findBack(current: Release, store: Store): Promise<Release | undefined> {
  return current.canaryLaunchId === null ? store.findPreviousRelease(current) : Promise.resolve(current);
}

/** What to promote. */
export interface PromoteRequest {
  /** Default: any environment that the caller may use. */
  readonly from?: string | null | undefined;
  readonly to: string;
  /** The id of a launch that `from` has served; default: its current one, and without `from` the canary of `to`. */
  readonly launch?: string | null | undefined;
  /** The share of requests that get the launch, 1 to 99; default: all. */
  readonly percent?: number | null | undefined;
  /** The release of `to` that the change was made for; 0 for none. */
  readonly expectedRelease?: number | null | undefined;
  readonly message?: string | null | undefined;
  readonly actor: string;
  /** Returns whether the caller may use an environment. */
  readonly mayUse: (environment: string) => boolean;
}

/**
 * Serves a launch of one environment in another, or of the same one again: to all requests, or as a canary. Throws NOT_FOUND when `from` has not served it,
 * CONFLICT when `to` serves it already in this way, when `expectedRelease` is not its current release, and for a canary where nothing is served that it
 * could be compared with.
 */
export async function promote(request: PromoteRequest, { database, composer, takeTurn, onRelease }: Publishing): Promise<Release> {
  const { from, to, percent, message, actor } = request;
  if (typeof from === 'string') checkEnvironment(from, 'from');
  checkEnvironment(to, 'to');
  checkText(message ?? '', MESSAGE_LENGTH);
  rejectFaults(typeof percent !== 'number' || (percent >= 1 && percent <= 99) ? [] : [{ field: 'percent', message: 'must be 1 to 99' }]);
  const write = async (query: Query): Promise<Release> => {
    const store = createStore(query);
    await store.lockEnvironment(to);
    const current = await store.findCurrentRelease(to);
    requireExpected(current, request.expectedRelease);
    const wanted = await findPromoted(request, current, store);
    const common = { environment: to, promotedFrom: from ?? null, actor, message: message ?? null };
    if (typeof percent !== 'number')
      return insertNext(current, { store, composer, release: { ...common, launchId: wanted, action: 'PROMOTE', ...NO_CANARY } });
    if (!current)
      throw fail(
        'CONFLICT',
        `The environment \`${to}\` serves no launch that a canary can be compared with. Promote the launch without \`percent\`.`,
      );
    if (current.launchId === wanted) throw servesAlready(current);
    const canary = { canaryLaunchId: wanted, canaryPercent: percent };
    return insertNext(current, { store, composer, release: { ...common, launchId: current.launchId, action: 'CANARY', ...canary } });
  };
  const release = await takeTurn(() => database.transact(write));
  onRelease(release);
  return release;
}

/** Returns the id of the launch to promote. */
async function findPromoted({ from, to, launch, mayUse }: PromoteRequest, current: Release | undefined, store: Store): Promise<string> {
  if (typeof from !== 'string') {
    const wanted = launch ?? current?.canaryLaunchId;
    if (typeof wanted !== 'string')
      throw fail(
        'NOT_FOUND',
        `The environment \`${to}\` has no canary. Send the \`launch\`, or the environment \`from\` which it is taken.`,
      );
    if ((await store.listEnvironmentsOf(wanted)).some(mayUse)) return wanted;
    throw fail('NOT_FOUND', 'The launch does not exist, or no environment of the token has served it.');
  }
  const { launchId } = await requireRelease(from, store);
  const wanted = launch ?? launchId;
  if (wanted !== launchId && !(await store.listEnvironmentsOf(wanted)).includes(from))
    throw fail('NOT_FOUND', `The environment \`${from}\` has not released this launch.`);
  return wanted;
}

/** What a gateway has seen of a canary. */
export interface ReturnRequest {
  readonly environment: string;
  /** The number of the release that has the canary. */
  readonly release: number;
  readonly reason: string;
  readonly actor: string;
}

/** Ends the canary of a release. Returns the current release, which is another one already when the canary has ended before. Throws NOT_FOUND. */
export async function returnCanary(
  { environment, release: number, reason, actor }: ReturnRequest,
  { database, composer, takeTurn, onRelease }: Publishing,
): Promise<Release> {
  checkEnvironment(environment);
  checkText(reason, { ...MESSAGE_LENGTH, field: 'reason' });
  const write = async (query: Query): Promise<{ readonly release: Release; readonly isNew: boolean }> => {
    const store = createStore(query);
    await store.lockEnvironment(environment);
    const current = await requireRelease(environment, store);
    if (current.number !== number || current.canaryLaunchId === null) return { release: current, isNew: false };
    const { launchId } = current;
    const next = { environment, launchId, action: 'RETURN', promotedFrom: null, actor, message: reason, ...NO_CANARY } as const;
    return { release: await insertNext(current, { store, composer, release: next }), isNew: true };
  };
  const { release, isNew } = await takeTurn(() => database.transact(write));
  if (isNew) onRelease(release);
  return release;
}

async function requireRelease(environment: string, store: Store): Promise<Release> {
  const release = await store.findCurrentRelease(environment);
  if (!release) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
  return release;
}

interface NextRelease {
  readonly store: Store;
  readonly composer: Publishing['composer'];
  readonly release: Omit<Release, 'number' | 'createdAt'>;
}

/** Throws CONFLICT when the release would change nothing, and BUSINESS_RULE_VIOLATION when a contract cannot be made of its launches. */
async function insertNext(current: Release | undefined, { store, composer, release }: NextRelease): Promise<Release> {
  const { environment, launchId, canaryLaunchId } = release;
  const isSame =
    current?.launchId === launchId && current.canaryLaunchId === canaryLaunchId && current.canaryPercent === release.canaryPercent;
  if (isSame) throw servesAlready(current);
  const contracts = await store.listContracts(environment);
  const prepared = await prepareContracts({ contracts, launchId, canaryLaunchId }, { store, composer });
  if (!prepared.ok) throw fail('BUSINESS_RULE_VIOLATION', `${prepared.problems[0]?.message ?? ''} Change or delete the contract first.`);
  const next = await store.insertRelease({ ...release, number: (current?.number ?? 0) + 1 });
  await keepContracts(next, prepared, store);
  return next;
}

function servesAlready({ environment, number }: Release) {
  return fail('CONFLICT', `The environment \`${environment}\` serves this launch already, as release ${String(number)}.`);
}
