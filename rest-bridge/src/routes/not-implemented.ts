/** Routes of contract §4 that are not implemented yet. An implemented route moves to the file of its noun. */
import { notImplemented } from './route-kinds.ts';
import type { Route } from './route.ts';

const spec = 'contract §4';
const deliveries = '/webhooks/{id}/deliveries';

/** The routes that answer 501. */
export const notImplementedRoutes: readonly Route[] = [
  notImplemented({ method: 'GET', path: '/jobs/{id}', summary: 'Returns the progress of a job', spec }),
  notImplemented({ method: 'GET', path: '/webhooks', summary: 'Lists webhooks', spec }),
  notImplemented({ method: 'POST', path: '/webhooks', summary: 'Creates a webhook', spec }),
  notImplemented({ method: 'GET', path: '/webhooks/{id}', summary: 'Returns a webhook', spec }),
  notImplemented({ method: 'PATCH', path: '/webhooks/{id}', summary: 'Updates a webhook', spec }),
  notImplemented({ method: 'DELETE', path: '/webhooks/{id}', summary: 'Deletes a webhook', spec }),
  notImplemented({ method: 'GET', path: deliveries, summary: 'Lists the deliveries of a webhook', spec }),
  notImplemented({ method: 'POST', path: `${deliveries}/{deliveryId}/replays`, summary: 'Repeats a delivery', spec }),
];
