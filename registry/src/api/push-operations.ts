/** Registers the operations of a client, which checks validate. */
import { createHash } from 'node:crypto';
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail } from '@trestle/schema/errors';
import { checkEnvironment, checkText, nameOperations } from '../publishing/input-rules.ts';
import type { Composer } from '../composition/composer.ts';
import type { InvalidOperation } from '../records.ts';
import type { Store } from '../store.ts';

/** Operations of a client. */
export interface PushRequest {
  readonly environment: string;
  readonly client: string;
  readonly documents: readonly string[];
}

/** What has become of the operations. */
export interface PushResult {
  readonly added: number;
  readonly unchanged: number;
  /** Those that are not valid for what the environment serves. They are registered too: a later release may have their fields. */
  readonly invalid: readonly InvalidOperation[];
}

/** What operations are kept in and validated by. */
export interface PushParts {
  readonly store: Store;
  readonly createId: CreateId;
  readonly composer: Composer;
}

/** Keeps the operations that are new. Throws VALIDATION_ERROR that lists every faulty document, and NOT_FOUND for an unknown environment. */
export async function pushOperations(
  { environment, client, documents }: PushRequest,
  { store, createId, composer }: PushParts,
): Promise<PushResult> {
  checkEnvironment(environment);
  checkText(client, { field: 'client', min: 1, max: 100 });
  const names = nameOperations(documents);
  const release = await store.findCurrentRelease(environment);
  const launch = release && (await store.findLaunch(release.launchId));
  if (!launch) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
  const operations = documents.map((text, i) => ({
    id: createId('opn'),
    hash: createHash('sha256').update(text).digest('hex'),
    name: names[i] ?? '',
    text,
  }));
  const invalid = await composer.validate({
    validateFor: launch.apiSdl,
    operations: operations.map(({ hash, name, text }) => ({ hash, name, client, text })),
  });
  const added = await store.insertOperations(environment, client, operations);
  return { added, unchanged: documents.length - added, invalid };
}
