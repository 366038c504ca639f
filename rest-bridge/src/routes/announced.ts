/** Rows of what is promised (contract §4) and has nothing behind it yet; each goes to its noun's file once it has. */
import { announced } from './kinds.ts';
import type { Row } from './row.ts';

const spec = 'contract §4';
const deliveries = '/webhooks/{id}/deliveries';

export const announcedRows: readonly Row[] = [
  announced({ method: 'POST', path: '/auth/refresh', summary: 'Gives a new access token', needsCaller: false, spec }),
  announced({ method: 'GET', path: '/api-keys', summary: "Lists the caller's API keys", spec }),
  announced({ method: 'POST', path: '/api-keys', summary: 'Makes an API key', spec }),
  announced({ method: 'GET', path: '/api-keys/{id}', summary: 'Shows an API key', spec }),
  announced({ method: 'DELETE', path: '/api-keys/{id}', summary: 'Revokes an API key', spec }),
  announced({ method: 'GET', path: '/jobs/{id}', summary: 'Shows how far a job is', spec }),
  announced({ method: 'GET', path: '/webhooks', summary: 'Lists webhooks', spec }),
  announced({ method: 'POST', path: '/webhooks', summary: 'Adds a webhook', spec }),
  announced({ method: 'GET', path: '/webhooks/{id}', summary: 'Shows a webhook', spec }),
  announced({ method: 'PATCH', path: '/webhooks/{id}', summary: 'Changes a webhook', spec }),
  announced({ method: 'DELETE', path: '/webhooks/{id}', summary: 'Deletes a webhook', spec }),
  announced({ method: 'GET', path: deliveries, summary: 'Lists the deliveries of a webhook', spec }),
  announced({ method: 'POST', path: `${deliveries}/{deliveryId}/replays`, summary: 'Delivers once more', spec }),
];
