/** What the resolvers of the users subgraph work with. */
import type { RequestContext } from '@trestle/chassis/context';
import { createRowLoader } from '@trestle/chassis/loaders';
import type { TokenIssuer } from '@trestle/identity/tokens';
import type DataLoader from 'dataloader';
import type { Passwords } from './passwords.ts';
import type { UserStore } from './user-store.ts';
import type { User } from './user.ts';

export interface UsersDependencies {
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly tokens: TokenIssuer;
}

export interface UsersContext extends RequestContext, UsersDependencies {
  readonly userById: DataLoader<string, User | null>;
  /** Whether an account of this id was deleted; null where it never existed or still does. */
  readonly deletedById: DataLoader<string, { readonly id: string } | null>;
  /** Reads everything afresh from here on: a mutation may follow another one in the same request. */
  readonly forget: () => void;
}

export function createUsersContext(request: RequestContext, dependencies: UsersDependencies): UsersContext {
  const { users } = dependencies;
  const userById = createRowLoader(users.findByIds, ({ id }) => id);
  const deletedById = createRowLoader(users.findDeleted, ({ id }) => id);
  return {
    ...request,
    ...dependencies,
    userById,
    deletedById,
    forget() {
      userById.clearAll();
      deletedById.clearAll();
    },
  };
}
