/** Answers preflight requests of browsers before anything identifies the caller: they never carry a credential (Fetch Standard §3.2.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Edge } from './edge.ts';
import type { Reason } from '../http1/refusal-reasons.ts';
import { type RefusalOptions, createRefuser } from '../http1/refusals.ts';
import { toRequestId } from '../messages/request-id.ts';

/** The origin of a browser is neither that of the process nor one of its list. */
export const FOREIGN_ORIGIN: Reason = {
  code: 'FORBIDDEN',
  message: 'The origin is not allowed. The operator of the API must add it to CORS_ORIGINS.',
};

/** Returns a function that answers preflight requests, and returns false for all others. They are not counted by any limit. */
export function createPreflightHandler({ cors }: Edge, refusals: RefusalOptions) {
  const toRefusal = createRefuser(refusals);
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const answer = cors.answerPreflight(request);
    if (!answer) return false;
    const sentId = request.headers['x-request-id'];
    if (answer.isAllowed) {
      const further = Object.entries(refusals.headersOf?.(request.url) ?? {}).flat();
      const own = ['x-request-id', toRequestId(sentId), 'cache-control', 'no-store', ...further];
      response.writeHead(204, [...own, ...answer.headers]).end();
      return true;
    }
    const { status, headers, body } = toRefusal(FOREIGN_ORIGIN, request);
    response.writeHead(status, headers).end(body);
    return true;
  };
}
