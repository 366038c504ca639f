/** The batched reads of one request. */
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import { createLookup } from '@trestle/chassis/loading/lookup';
import type { UsersStores } from './stores.ts';

export type UsersLoaders = ReturnType<typeof createUsersLoaders>;

export function createUsersLoaders({ users }: UsersStores) {
  const tombstones = createRowLoader(users.findDeleted, ({ id }) => id);
  const wasDeleted = async (id: string) => (await tombstones.load(id)) !== null;
  return { user: createLookup({ noun: 'account', isId: isAccountId, load: users.findByIds, wasDeleted }) };
}

/** Accounts may be inserted by other programs, whose ids have the prefix but not always the form of ours. */
function isAccountId(id: string): boolean {
  return id.startsWith('usr_');
}
