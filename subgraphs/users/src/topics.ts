/** What events tell of (spec §6): accounts, and tokens that hold no longer. */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import { toRevocation } from './revocation-feed.ts';
import type { UserStore } from './user-store.ts';

export function createTopics({ findByIds }: Pick<UserStore, 'findByIds'>): Topics {
  return {
    userCreated: loadByEntityId(findByIds),
    tokensRevoked: (events) => Promise.resolve(events.map((event) => toRevocation(event) ?? null)),
  };
}
