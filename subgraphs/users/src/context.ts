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
}

export function createUsersContext(request: RequestContext, dependencies: UsersDependencies): UsersContext {
  const { users } = dependencies;
  return {
    ...request,
    ...dependencies,
    userById: createRowLoader(users.findByIds, ({ id }) => id),
    deletedById: createRowLoader(users.findDeleted, ({ id }) => id),
  };
}
