/** The accounts that events tell of (spec §6). */
import { type Topics, loadByEntityId } from '@trestle/chassis/events';
import type { UserStore } from './user-store.ts';

export function createTopics({ findByIds }: Pick<UserStore, 'findByIds'>): Topics {
  return { userCreated: loadByEntityId(findByIds) };
}
