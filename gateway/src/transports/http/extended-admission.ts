/** Calls the hooks of an HTTP request: `onRequest` before its admission, `onContext` after it. */
import { clientOf } from '@trestle/service/clients/client-id';
import { extendContext, extendRequest } from '../../extensions/extend-context.ts';
import { ExtendedRequest } from '../../request/extended-request.ts';
import { type AdmittedRequest, type ArrivedRequest, type HttpTransportOptions, abandon, admitRequest } from './admitted-request.ts';
import type { HttpExchange } from './exchange.ts';

/** A request that the rate limit has counted, and how it is admitted. */
export interface AdmissionOptions extends ArrivedRequest {
  readonly hasOwnFormat: boolean;
  readonly options: HttpTransportOptions;
}

/** Admits the request and calls `done`, with an extended context when there are extensions. Throws what {@link admitRequest} throws. */
export function admitExtended(exchange: HttpExchange, admission: AdmissionOptions, done: (admitted: AdmittedRequest) => void): void {
  const { hooks } = admission.options;
  if (!hooks.areUsed) {
    done(admitRequest(exchange, admission));
    return;
  }
  const extended = extend(exchange);
  // The client may have disconnected while a hook was waited for.
  const resume = (act: () => void) => {
    exchange.guard(() => {
      if (exchange.response.destroyed) abandon(exchange);
      else act();
    });
  };
  extendRequest(extended, hooks, (refusal) => {
    resume(() => {
      if (refusal) throw refusal;
      const admitted = admitRequest(exchange, { ...admission, extended });
      extendContext(admitted.context, hooks, (fault, context) => {
        resume(() => {
          if (fault) throw fault;
          done(context === admitted.context ? admitted : { ...admitted, context });
        });
      });
    });
  });
}

function extend({ request, response, requestId }: HttpExchange): ExtendedRequest {
  const { method = '', url = '', headers } = request;
  const setResponseHeader = (name: string, value: string) => {
    if (!response.headersSent) response.setHeader(name, value);
  };
  return new ExtendedRequest({ id: requestId, transport: 'http', method, url, headers, client: clientOf(request), setResponseHeader });
}
