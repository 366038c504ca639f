/** Routes of webhooks and of their deliveries (contract §4). */
import type { RouteResponse } from '../http/response.ts';
import type { Represent, RepresentationContext } from '../resources/representation.ts';
import { WEBHOOK, WEBHOOK_DELIVERY } from '../resources/event-resources.ts';
import { createWithSecret, getList, getOne, idOf, merge, remove, withId } from './route-kinds.ts';
import type { OperationRoute, Route } from './route.ts';

const needsCaller = true;
const spec = 'contract §4';
const deliveries = '/webhooks/{id}/deliveries';
const common = { resource: WEBHOOK, needsCaller, spec } as const;
const secret = { ...common, member: 'webhook', collection: '/webhooks' } as const;

/** Returns a `POST` without a body that makes a delivery: 201. */
function deliver(options: Pick<OperationRoute, 'path' | 'operation' | 'summary'>): OperationRoute {
  return {
    ...options,
    method: 'POST',
    resource: withId(WEBHOOK_DELIVERY),
    needsCaller,
    input: { kind: 'path' },
    success: { status: 201, content: 'resource' },
    toResponse: toDeliveryResponse,
    spec,
  };
}

/** The path is that of the webhook or of one of its deliveries, which the location follows. */
function toDeliveryResponse(result: unknown, represent: Represent, { prefix, path }: RepresentationContext): RouteResponse {
  const webhook = path.split('/').slice(0, 3).join('/');
  return { status: 201, body: represent(result).body, headers: { location: `${prefix}${webhook}/deliveries/${idOf(result)}` } };
}

/** The routes under `/webhooks`. */
export const webhookRoutes: readonly Route[] = [
  getList({
    ...common,
    path: '/webhooks',
    operation: 'ListWebhooks',
    summary: 'Lists the webhooks of the caller; administrators may name another account',
    filter: 'WebhookFilter',
    order: 'WebhookOrderField',
  }),
  createWithSecret({
    ...secret,
    path: '/webhooks',
    operation: 'CreateWebhook',
    summary: 'Creates a webhook of the caller, and shows its secret once',
    input: 'CreateWebhookInput',
  }),
  getOne({ ...common, path: '/webhooks/{id}', operation: 'GetWebhook', summary: 'Returns a webhook' }),
  merge({
    ...common,
    path: '/webhooks/{id}',
    operation: 'UpdateWebhook',
    summary: 'Changes, disables or enables a webhook',
    input: 'UpdateWebhookInput',
  }),
  remove({ ...common, path: '/webhooks/{id}', operation: 'DeleteWebhook', summary: 'Deletes a webhook with its deliveries' }),
  createWithSecret({
    ...secret,
    path: '/webhooks/{id}/rotations',
    operation: 'RotateWebhookSecret',
    summary: 'Replaces the secret of a webhook, and shows the new one once',
    input: 'RotateWebhookSecretInput',
    conditionsOn: 'parent',
  }),
  deliver({ path: '/webhooks/{id}/pings', operation: 'PingWebhook', summary: 'Sends a test event to a webhook' }),
  {
    ...common,
    method: 'POST',
    path: '/webhooks/{id}/replays',
    operation: 'ReplayWebhook',
    summary: 'Sends all events since a time again, at most 1,000',
    input: { kind: 'body', rule: { input: 'ReplayWebhookInput', mode: 'create', resource: WEBHOOK } },
    success: { status: 200, content: 'object', type: 'WebhookReplay' },
    toResponse: (result) => ({ status: 200, body: result as object }),
  },
  getList({
    path: deliveries,
    operation: 'ListDeliveriesOfWebhook',
    resource: WEBHOOK_DELIVERY,
    summary: 'Lists the deliveries of a webhook, newest first, with their attempts',
    needsCaller,
    filter: 'WebhookDeliveryFilter',
    spec,
  }),
  getOne({
    path: `${deliveries}/{deliveryId}`,
    operation: 'GetWebhookDelivery',
    resource: WEBHOOK_DELIVERY,
    summary: 'Returns a delivery with its attempts',
    needsCaller,
    spec,
  }),
  deliver({
    path: `${deliveries}/{deliveryId}/replays`,
    operation: 'ReplayWebhookDelivery',
    summary: 'Sends the event of a delivery again, with the same `webhook-id`',
  }),
];
