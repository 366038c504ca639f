/** The context of the registry's resolvers. */
import type { RequestContext } from '@trestle/chassis/request/context';
import { fail } from '@trestle/schema/errors';
import type { Checking } from '../checks/check.ts';
import type { Publishing } from '../publishing/publish.ts';
import type { Token } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { findToken } from '../tokens/create-token.ts';

/** What the registry's API is created from. */
export interface Registry extends Publishing, Checking {
  readonly database: Publishing['database'] & Checking['database'];
}

/** What resolvers get. */
export interface RegistryContext extends RequestContext {
  readonly registry: Registry;
  readonly store: Store;
  /** Returns the token of the request, which is looked up once. Rejects with UNAUTHORIZED without a valid one. */
  readonly requireToken: () => Promise<Token>;
}

const BEARER = /^bearer +([\w.~+/=-]+) *$/i;

/** Creates the context of a request. */
export function createContext(request: RequestContext, registry: Registry): RegistryContext {
  const store = createStore(registry.database.query);
  let token: Promise<Token> | undefined;
  const find = async () => {
    const found = await findToken(BEARER.exec(request.http?.authorization ?? '')?.[1], store);
    if (!found) throw fail('UNAUTHORIZED', 'A valid token of the registry is required: `Authorization: Bearer trestle_reg_…`.');
    return found;
  };
  return { ...request, registry, store, requireToken: () => (token ??= find()) };
}
