/** The batched reads of one request. */
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import { createLookup } from '@trestle/chassis/loading/lookup';
import { hasPrefix } from '@trestle/chassis/values/ids';
import type { UsersStores } from './stores.ts';

export type UsersLoaders = ReturnType<typeof createUsersLoaders>;

export function createUsersLoaders({ users }: UsersStores) {
  const tombstones = createRowLoader(users.findDeleted, ({ id }) => id);
  const wasDeleted = async (id: string) => (await tombstones.load(id)) !== null;
  return { user: createLookup({ noun: 'account', isId: hasPrefix('usr'), load: users.findByIds, wasDeleted }) };
}
