/** Registers the operations of a client, which checks validate. */
import { createHash } from 'node:crypto';
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail } from '@trestle/schema/errors';
import { checkEnvironment, checkText, nameOperations } from '../publishing/input-rules.ts';
import type { Store } from '../store.ts';

/** Operations of a client. */
export interface PushRequest {
  readonly environment: string;
  readonly client: string;
  readonly documents: readonly string[];
}

/** Keeps the operations that are new. Throws VALIDATION_ERROR that lists every faulty document, and NOT_FOUND for an unknown environment. */
export async function pushOperations(
  { environment, client, documents }: PushRequest,
  { store, createId }: { readonly store: Store; readonly createId: CreateId },
): Promise<{ readonly added: number; readonly unchanged: number }> {
  checkEnvironment(environment);
  checkText(client, { field: 'client', min: 1, max: 100 });
  const names = nameOperations(documents);
  if (!(await store.findCurrentRelease(environment))) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
  const operations = documents.map((text, i) => ({
    id: createId('opn'),
    hash: createHash('sha256').update(text).digest('hex'),
    name: names[i] ?? '',
    text,
  }));
  const added = await store.insertOperations(environment, client, operations);
  return { added, unchanged: documents.length - added };
}
