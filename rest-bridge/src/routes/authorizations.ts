/** Routes of the access that the caller has given to OAuth clients (spec §5.5). */
import { AUTHORIZATION } from '../resources/identity-resources.ts';
import { getList } from './route-kinds.ts';
import type { Route } from './route.ts';

/** The routes under `/authorizations`. */
export const authorizationRoutes: readonly Route[] = [
  getList({
    path: '/authorizations',
    operation: 'ListAuthorizations',
    resource: AUTHORIZATION,
    summary: 'Lists the access that the caller has given to OAuth clients, newest first',
    needsCaller: true,
    spec: '§5.5',
  }),
  {
    method: 'DELETE',
    path: '/authorizations/{id}',
    operation: 'RevokeAuthorization',
    resource: AUTHORIZATION,
    summary: 'Withdraws access that the caller has given to an OAuth client, and revokes its tokens',
    needsCaller: true,
    input: { kind: 'path' },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
    spec: '§5.5',
  },
];
