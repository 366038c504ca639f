/** REST resources of jobs, events and webhooks. */
import { type Resource, accountReference, foreign, lowerCase, plain } from './resource.ts';

/** Jobs. */
export const JOB: Resource = {
  type: 'Job',
  fields: {
    id: { select: 'id' },
    kind: lowerCase('kind'),
    status: lowerCase('status'),
    ...plain('progress', 'result'),
    error: {
      select: 'error { code message }',
      schema: {
        description: 'Why the last attempt failed; null when none has failed.',
        type: ['object', 'null'],
        properties: { code: { type: 'string' }, message: { type: 'string' } },
        required: ['code', 'message'],
      },
    },
    ...plain('attempts', 'createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'kind', 'status', 'progress', 'result', 'error', 'attempts', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
  links: {
    select: 'id status',
    toLinks: ({ id, status }, prefix) => {
      const self = `${prefix}/jobs/${String(id)}`;
      return {
        self: { href: self },
        ...((status === 'QUEUED' || status === 'RUNNING') && { cancel: { href: `${self}/cancel`, method: 'POST' } }),
        ...(status === 'FAILED' && { retry: { href: `${self}/retry`, method: 'POST' } }),
      };
    },
  },
};

/** A job as the request that asked for it is answered (spec §4.1). `type` is that of the job. */
export function acceptedJob(type: string): Resource {
  return {
    type,
    fields: { jobId: { select: 'id', schema: { type: 'string', description: 'The id of the job.' } }, status: lowerCase('status') },
    defaultFields: ['jobId', 'status'],
    include: {},
    isVersioned: false,
    links: { select: 'id', toLinks: ({ id }, prefix) => ({ self: { href: `${prefix}/jobs/${String(id)}` } }) },
  };
}

/** Events as CloudEvents (CloudEvents 1.0, JSON event format). */
export const EVENT: Resource = {
  type: 'Event',
  fields: {
    specversion: {
      select: '__typename',
      toValue: () => '1.0',
      schema: { type: 'string', const: '1.0', description: 'The version of CloudEvents.' },
    },
    ...plain('id', 'source', 'type', 'subject', 'time'),
    datacontenttype: {
      select: '__typename',
      toValue: () => 'application/json',
      schema: { type: 'string', const: 'application/json', description: 'The media type of `data`.' },
    },
    data: { select: 'data', schema: { type: 'object', description: 'What has changed; its members are those of the type.' } },
  },
  defaultFields: ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'data'],
  include: {},
  isVersioned: false,
};

/** Webhooks, without their secrets. */
export const WEBHOOK: Resource = {
  type: 'Webhook',
  fields: {
    ...plain('id', 'name', 'url', 'types', 'isEnabled'),
    disabledReason: lowerCase('disabledReason'),
    // Neither deliveries nor the end of a previous secret change `updatedAt`.
    ...foreign('failingSince', 'previousSecretExpiresAt'),
    user: accountReference('user'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: [
    ...['id', 'name', 'url', 'types', 'isEnabled', 'disabledReason', 'failingSince', 'previousSecretExpiresAt', 'user'],
    ...['createdAt', 'updatedAt'],
  ],
  include: {},
  isVersioned: true,
};

/** Deliveries of a webhook, with their attempts. */
export const WEBHOOK_DELIVERY: Resource = {
  type: 'WebhookDelivery',
  fields: {
    ...plain('id', 'webhookId'),
    kind: lowerCase('kind'),
    status: lowerCase('status'),
    ...plain('eventId', 'eventType', 'attemptCount'),
    attempts: {
      select: 'attempts { startedAt durationMs requestHeaders status responseHeaders error }',
      schema: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            startedAt: { type: 'string', format: 'date-time' },
            durationMs: { type: 'integer' },
            requestHeaders: { type: 'object', additionalProperties: { type: 'string' } },
            status: { type: ['integer', 'null'] },
            responseHeaders: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
            error: { type: ['string', 'null'] },
          },
          required: ['startedAt', 'durationMs', 'requestHeaders', 'status', 'responseHeaders', 'error'],
        },
      },
    },
    ...plain('nextAttemptAt', 'createdAt', 'completedAt'),
  },
  defaultFields: [
    ...[
      'id',
      'webhookId',
      'kind',
      'status',
      'eventId',
      'eventType',
      'attemptCount',
      'attempts',
      'nextAttemptAt',
      'createdAt',
      'completedAt',
    ],
  ],
  include: {},
  isVersioned: false,
};
