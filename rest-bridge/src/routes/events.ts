/** The route of events: a list, or a stream of server-sent events (contract §4). */
import { parseEvents } from '../query/events.ts';
import { toEventsResponse } from '../resources/events.ts';
import { EVENT } from '../resources/event-resources.ts';
import type { OperationRoute } from './route.ts';

/** The route `/events`. */
export const eventRoutes: readonly OperationRoute[] = [
  {
    method: 'GET',
    path: '/events',
    operation: 'ListEvents',
    resource: EVENT,
    summary: 'Lists events, oldest first; with `Accept: text/event-stream` sends them as they happen',
    needsCaller: true,
    input: { kind: 'custom', hasBody: false, createReader: () => parseEvents },
    success: { status: 200, content: 'events' },
    toResponse: toEventsResponse,
    stream: { operation: 'StreamEvents' },
    spec: 'contract §4',
  },
];
