/** Publishes and deletes subgraphs: composes the whole graph under the lock of its environment, and writes everything or nothing. */
import type { Database } from '@trestle/chassis/database/database';
import { fail } from '@trestle/schema/errors';
import { COMPOSER } from '../composition/compose-task.ts';
import type { Composer } from '../composition/composer.ts';
import { type PreparedContracts, keepContracts, prepareContracts } from '../contracts/prepare-contracts.ts';
import { type CompositionProblem, NO_CANARY, type Release, type SubgraphSchema, type SubgraphVersion } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { type SubgraphInput, checkEnvironment, checkSubgraphs, checkText } from './input-rules.ts';
import { launchIdOf, sortByName, versionIdOf } from './launch-id.ts';
import type { TakeTurn } from '../composition/turns.ts';

/** What publishing needs. */
export interface Publishing {
  readonly database: Pick<Database, 'transact'>;
  readonly composer: Composer;
  /** One writer of this process at a time holds a connection while it waits for the lock and for the composition. */
  readonly takeTurn: TakeTurn;
  /** Called after a release was committed. */
  readonly onRelease: (release: Release) => void;
}

/** A change of an environment's subgraphs. */
export interface PublishRequest {
  readonly environment: string;
  readonly subgraphs: readonly SubgraphInput[];
  readonly deleted: readonly string[];
  /** The release that the change was made for; 0 for none. */
  readonly expectedRelease?: number | null | undefined;
  readonly message?: string | null | undefined;
  /** Who changes it: the name and id of a token. */
  readonly actor: string;
}

/** What has become of it. */
export interface PublishResult {
  readonly release: Release | null;
  readonly isUnchanged: boolean;
  readonly problems: readonly CompositionProblem[];
}

/** The longest message of a release, in characters. */
export const MESSAGE_LENGTH = { field: 'message', min: 0, max: 2000 };

/**
 * Makes the change, if the graph composes. Another writer of the environment is waited for, and what is composed includes what it wrote.
 * Throws VALIDATION_ERROR for invalid input, NOT_FOUND for a subgraph to delete that does not exist, CONFLICT when `expectedRelease` is not the
 * current one.
 */
export async function publish(request: PublishRequest, { database, composer, takeTurn, onRelease }: Publishing): Promise<PublishResult> {
  checkEnvironment(request.environment);
  checkSubgraphs(request.subgraphs, request.deleted);
  checkText(request.message ?? '', MESSAGE_LENGTH);
  const write = () =>
    database.transact(async (query) => {
      const store = createStore(query);
      await store.lockEnvironment(request.environment);
      return publishLocked(request, { store, composer });
    });
  const result = await takeTurn(write);
  if (result.release && !result.isUnchanged) onRelease(result.release);
  return result;
}

interface LockedOptions {
  readonly store: Store;
  readonly composer: Composer;
}

async function publishLocked(request: PublishRequest, { store, composer }: LockedOptions): Promise<PublishResult> {
  const { environment, actor, message, deleted, expectedRelease } = request;
  const current = await store.findCurrentRelease(environment);
  requireExpected(current, expectedRelease);
  const next = await applyChange(request, current, store);
  const launchId = launchIdOf(next);
  if (current?.launchId === launchId) return { release: current, isUnchanged: true, problems: [] };
  const prepared = await keepLaunch({ environment, launchId, subgraphs: next, actor }, { store, composer });
  if (!prepared.ok) return { release: null, isUnchanged: false, problems: prepared.problems };
  const release = await store.insertRelease({
    environment,
    number: (current?.number ?? 0) + 1,
    launchId,
    action: deleted.length > 0 ? 'DELETE' : 'PUBLISH',
    promotedFrom: null,
    actor,
    message: message ?? null,
    ...NO_CANARY,
  });
  await keepContracts(release, prepared, store);
  return { release, isUnchanged: false, problems: [] };
}

/** Throws CONFLICT when another release is current than the writer knew. */
export function requireExpected(current: Release | undefined, expected: number | null | undefined): void {
  const number = current?.number ?? 0;
  if (typeof expected === 'number' && expected !== number)
    throw fail('CONFLICT', `The current release is ${String(number)}, not ${String(expected)}. Read it, and decide again.`);
}

/** Returns the subgraphs after a change. Throws as `publish`. */
export async function applyChange(
  { environment, subgraphs, deleted }: Pick<PublishRequest, 'environment' | 'subgraphs' | 'deleted'>,
  current: Release | undefined,
  store: Store,
): Promise<SubgraphSchema[]> {
  const versions = await listVersionsOf(current, store);
  const next = new Map<string, SubgraphSchema>(versions.map((version) => [version.name, version]));
  for (const name of deleted)
    if (!next.delete(name)) throw fail('NOT_FOUND', `The environment \`${environment}\` has no subgraph \`${name}\`.`);
  for (const { name, url, sdl } of subgraphs) {
    const address = url ?? next.get(name)?.url;
    if (address === undefined)
      throw fail('VALIDATION_ERROR', `The subgraph \`${name}\` is new in \`${environment}\`. Send its \`url\`.`, {
        details: [{ field: 'url', message: 'is required for a new subgraph' }],
      });
    next.set(name, { name, url: address, sdl });
  }
  if (next.size === 0)
    throw fail('VALIDATION_ERROR', 'One subgraph must remain.', { details: [{ field: 'subgraphs', message: 'must leave one' }] });
  return sortByName([...next.values()]);
}

/** Returns the versions of a release's launch, by name; none without a release. */
export async function listVersionsOf(release: Release | undefined, store: Store): Promise<SubgraphVersion[]> {
  const launch = release && (await store.findLaunch(release.launchId));
  return launch ? store.listVersions(launch.versions) : [];
}

interface NewLaunch {
  readonly environment: string;
  readonly launchId: string;
  readonly subgraphs: readonly SubgraphSchema[];
  readonly actor: string;
}

/**
 * Keeps the launch and its versions, and makes the contracts of the environment. Returns why one of them does not compose; then nothing is written.
 * What has composed once is not composed again.
 */
async function keepLaunch(
  { environment, launchId, subgraphs, actor }: NewLaunch,
  { store, composer }: LockedOptions,
): Promise<PreparedContracts> {
  const sources = { contracts: await store.listContracts(environment), launchId, canaryLaunchId: null };
  if (await store.findLaunch(launchId)) return prepareContracts(sources, { store, composer });
  const outcome = await composer.compose({ subgraphs: subgraphs.map(({ name, url, sdl }) => ({ name, url, sdl })) });
  if (!outcome.ok) return { ok: false, problems: outcome.problems };
  const { supergraphSdl, apiSdl } = outcome;
  const prepared = await prepareContracts({ ...sources, composed: { launchId, supergraphSdl } }, { store, composer });
  if (!prepared.ok) return prepared;
  const versions = subgraphs.map((subgraph) => ({ ...subgraph, id: versionIdOf(subgraph), actor }));
  for (const version of versions) await store.insertVersion(version);
  await store.insertLaunch({ id: launchId, composer: COMPOSER, versions: versions.map(({ id }) => id), supergraphSdl, apiSdl });
  return prepared;
}
