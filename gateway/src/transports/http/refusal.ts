/** Responses of the HTTP transport to requests without a result: one GraphQL error, as in a result. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toChallenge } from '@trestle/identity/credentials/challenge';
import type { Log } from '@trestle/log';
import { ERRORS, type ErrorCode, Fault, toFault } from '@trestle/schema/errors';
import { retryAfterOf } from '@trestle/schema/retry-after';
import type { Refusal, RefusalResponse } from '@trestle/service/http1/refusals';
import { PersistedQueryFault } from '../../documents/documents.ts';
import { formatFault } from '../../errors/format-fault.ts';
import { UnsupportedCoding } from './content-coding.ts';
import { chooseMediaType } from './negotiation.ts';
import { type Head, sendText, toRetryAfter } from './send.ts';

export const ALLOW = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';

/** The form of refusals where it is not that of `/graphql`. */
export interface RefusalFormat {
  /** The value of `Allow`. */
  readonly allow: string;
  /** Returns the body of a response in JSON. */
  readonly format: (fault: Fault, requestId: string) => object;
  /** Returns what is added to the value of `WWW-Authenticate`. */
  readonly challengeParameters?: ((request: IncomingMessage) => string) | undefined;
}

interface RefusedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly vary: string;
}

/** Sends an error. An error that is not a Fault is logged and masked. */
export function sendRefusal(
  exchange: RefusedExchange,
  { error, log, format }: { error: unknown; log: Log; format?: RefusalFormat | undefined },
): void {
  const { request, response, requestId } = exchange;
  if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const fault = toFault(error);
  const heads: Partial<Record<ErrorCode, Head>> = {
    METHOD_NOT_ALLOWED: { allow: format?.allow ?? ALLOW },
    UNSUPPORTED_MEDIA_TYPE:
      fault instanceof UnsupportedCoding
        ? { 'accept-encoding': fault.accepted }
        : { 'accept-post': format ? 'application/json' : 'application/json, multipart/form-data' },
  };
  const challenge = toChallenge(fault);
  const mediaType = format ? undefined : chooseMediaType(request.headers.accept);
  const contentType = mediaType?.contentType ?? 'application/json; charset=utf-8';
  sendText(exchange, {
    // Clients of automatic persisted queries expect 200 and send the text then.
    status: fault instanceof PersistedQueryFault ? 200 : ERRORS[fault.code].status,
    // The rest of an unread body is discarded, and the connection ends.
    head: {
      'content-type': contentType,
      ...heads[fault.code],
      ...(challenge !== undefined && { 'www-authenticate': challenge + (format?.challengeParameters?.(request) ?? '') }),
      ...toRetryAfter(retryAfterOf(fault)),
      ...(!request.complete && { connection: 'close' }),
    },
    text: JSON.stringify(format?.format(fault, requestId) ?? { errors: [formatFault(fault, requestId)] }),
  });
}

/** Returns the response to a request that Node.js or `@trestle/service` refused, as a GraphQL error. */
export function toRefusalResponse({ code, message, requestId }: Refusal): RefusalResponse {
  return { body: { errors: [{ message, extensions: { code, requestId } }] } };
}
