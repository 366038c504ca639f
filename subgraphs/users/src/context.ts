/** What the resolvers of the users subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import type { Idempotency, MutationCall } from '@trestle/chassis/stores/idempotency';
import { createRowLoader } from '@trestle/chassis/loading/loaders';
import type { Revocation } from '@trestle/identity/revocations';
import type { TokenIssuer } from '@trestle/identity/tokens';
import type DataLoader from 'dataloader';
import type { Passwords } from './passwords.ts';
import type { UserStore } from './user-store.ts';
import type { User } from './user.ts';

export interface UsersDependencies {
  readonly passwords: Passwords;
  readonly tokens: TokenIssuer;
  /**
   * Tells this process, and those that listen to it, before the request is answered, of what was written down already: the rest learn
   * of it by the table of events.
   */
  readonly revoke: (revocation: Revocation) => Promise<void>;
}

export interface UsersContext extends RequestContext, UsersDependencies {
  readonly users: UserStore;
  /** Runs a write that makes something: once for an Idempotency-Key (spec §8). */
  readonly create: <Row>(call: MutationCall, write: (users: UserStore) => Promise<Row>) => Promise<Row>;
  readonly userById: DataLoader<string, User | null>;
  /** Whether an account of this id was deleted; null where it never existed or still does. */
  readonly deletedById: DataLoader<string, { readonly id: string } | null>;
  /** Reads everything afresh from here on: a mutation may follow another one in the same request. */
  readonly forget: () => void;
}

export function createUsersContext(
  request: RequestContext,
  { stores: users, once }: Idempotency<UserStore>,
  dependencies: UsersDependencies,
): UsersContext {
  const userById = createRowLoader(users.findByIds, ({ id }) => id);
  const deletedById = createRowLoader(users.findDeleted, ({ id }) => id);
  return {
    ...request,
    ...dependencies,
    users,
    create: (call, write) => once(request, call, write),
    userById,
    deletedById,
    forget() {
      userById.clearAll();
      deletedById.clearAll();
    },
  };
}
