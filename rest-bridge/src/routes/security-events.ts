/** Routes of the audit trail. */
import { SECURITY_EVENT } from '../resources/identity-resources.ts';
import { getList } from './route-kinds.ts';
import type { Route } from './route.ts';

/** The routes under `/security-events`. */
export const securityEventRoutes: readonly Route[] = [
  getList({
    path: '/security-events',
    operation: 'ListSecurityEvents',
    resource: SECURITY_EVENT,
    summary: 'Lists security events, newest first; for administrators',
    needsCaller: true,
    filter: 'SecurityEventFilter',
    spec: 'contract §4',
  }),
];
