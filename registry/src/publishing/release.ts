/** Serves launches that exist: earlier ones of an environment, and those of another one. */
import type { Query } from '@trestle/chassis/database/query';
import { fail } from '@trestle/schema/errors';
import type { Release } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { checkEnvironment, checkText } from './input-rules.ts';
import { MESSAGE_LENGTH, type Publishing } from './publish.ts';

/** Where to roll back. */
export interface RollbackRequest {
  readonly environment: string;
  /** The number of a release; default: the newest before the current one that has another launch. */
  readonly to?: number | null | undefined;
  readonly message?: string | null | undefined;
  readonly actor: string;
}

type Releasing = Omit<Publishing, 'composer'>;

/** Serves an earlier launch again, as a new release. Throws NOT_FOUND when there is none, and CONFLICT when it is the current one. */
export async function rollBack(request: RollbackRequest, { database, takeTurn, onRelease }: Releasing): Promise<Release> {
  const { environment, to, message, actor } = request;
  checkEnvironment(environment);
  checkText(message ?? '', MESSAGE_LENGTH);
  const write = async (query: Query): Promise<Release> => {
    const store = createStore(query);
    await store.lockEnvironment(environment);
    const current = await requireRelease(environment, store);
    const target = typeof to === 'number' ? await store.findRelease(environment, to) : await store.findPreviousRelease(current);
    if (!target)
      throw fail('NOT_FOUND', `The environment \`${environment}\` has no such release${typeof to === 'number' ? '' : ' to go back to'}.`);
    const { launchId } = target;
    return insertNext(current, {
      store,
      release: { environment, launchId, action: 'ROLLBACK', promotedFrom: null, actor, message: message ?? null },
    });
  };
  const release = await takeTurn(() => database.transact(write));
  onRelease(release);
  return release;
}

/** What to promote. */
export interface PromoteRequest {
  readonly from: string;
  readonly to: string;
  /** The id of a launch that `from` has released; default: its current one. */
  readonly launch?: string | null | undefined;
  readonly message?: string | null | undefined;
  readonly actor: string;
}

/** Serves a launch of one environment in another. Throws NOT_FOUND when `from` has not released it, and CONFLICT when `to` serves it already. */
export async function promote(request: PromoteRequest, { database, takeTurn, onRelease }: Releasing): Promise<Release> {
  const { from, to, launch, message, actor } = request;
  checkEnvironment(from, 'from');
  checkEnvironment(to, 'to');
  checkText(message ?? '', MESSAGE_LENGTH);
  const write = async (query: Query): Promise<Release> => {
    const store = createStore(query);
    await store.lockEnvironment(to);
    const { launchId } = await requireRelease(from, store);
    const wanted = launch ?? launchId;
    if (wanted !== launchId && !(await store.listEnvironmentsOf(wanted)).includes(from))
      throw fail('NOT_FOUND', `The environment \`${from}\` has not released this launch.`);
    const current = await store.findCurrentRelease(to);
    return insertNext(current, {
      store,
      release: { environment: to, launchId: wanted, action: 'PROMOTE', promotedFrom: from, actor, message: message ?? null },
    });
  };
  const release = await takeTurn(() => database.transact(write));
  onRelease(release);
  return release;
}

async function requireRelease(environment: string, store: Store): Promise<Release> {
  const release = await store.findCurrentRelease(environment);
  if (!release) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
  return release;
}

interface NextRelease {
  readonly store: Store;
  readonly release: Omit<Release, 'number' | 'createdAt'>;
}

function insertNext(current: Release | undefined, { store, release }: NextRelease): Promise<Release> {
  if (current?.launchId === release.launchId)
    throw fail('CONFLICT', `The environment \`${release.environment}\` serves this launch already, as release ${String(current.number)}.`);
  return store.insertRelease({ ...release, number: (current?.number ?? 0) + 1 });
}
