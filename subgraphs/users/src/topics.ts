/** The rows that events are about (spec §6): accounts, and revoked tokens. */
import { type Topics, loadBySubject } from '@trestle/chassis/events/source-streams/topics';
import { toRevocation } from './revocation/event-source.ts';
import type { UsersStores } from './stores.ts';

export function createTopics({ users }: Pick<UsersStores, 'users'>): Topics {
  return {
    userCreated: { types: ['user.created'], load: loadBySubject(users.findByIds) },
    tokensRevoked: { types: ['tokens.revoked'], load: (events) => Promise.resolve(events.map((event) => toRevocation(event) ?? null)) },
  };
}
