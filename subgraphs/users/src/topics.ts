/** The rows that events are about (spec §6): accounts, and revoked tokens. */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import { toRevocation } from './revocation/event-source.ts';
import type { UsersStores } from './stores.ts';

export function createTopics({ users }: Pick<UsersStores, 'users'>): Topics {
  return {
    userCreated: loadByEntityId(users.findByIds),
    tokensRevoked: (events) => Promise.resolve(events.map((event) => toRevocation(event) ?? null)),
  };
}
