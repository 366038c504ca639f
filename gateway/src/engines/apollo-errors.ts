/** A plugin of Apollo Server that completes errors: request id, merged denials, 401, and a log line for each server error. */
import type { ApolloServerPlugin } from '@apollo/server';
import type { Log } from '@trestle/log';
import { formatError, isServerError, mergeDenials, toRefusedResult } from '../errors/format-error.ts';
import type { RequestContext } from '../request/context.ts';

/** Creates the plugin. */
export function createErrorPlugin(log: Log): ApolloServerPlugin<RequestContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didEncounterErrors: ({ errors, contextValue: { requestId } }) => {
          for (const error of errors) {
            const formatted = formatError(error.toJSON(), error);
            if (isServerError(formatted)) {
              const { extensions } = formatted;
              const service = extensions?.['service'];
              log.error('request failed', {
                requestId,
                code: String(extensions?.['code']),
                ...(typeof service === 'string' && { subgraph: service }),
                error,
              });
            }
          }
          return Promise.resolve();
        },
        willSendResponse: ({ contextValue: { requestId }, response }) => {
          if (response.body.kind !== 'single') return Promise.resolve();
          const { singleResult } = response.body;
          if (!singleResult.errors?.length) return Promise.resolve();
          singleResult.errors = mergeDenials(singleResult.errors).map((error) => ({
            ...error,
            extensions: { ...error.extensions, requestId },
          }));
          const refused = toRefusedResult(singleResult.data, singleResult.errors);
          if (refused) {
            response.http.status = refused.status;
            if (refused.challenge !== undefined) response.http.headers.set('www-authenticate', refused.challenge);
          }
          return Promise.resolve();
        },
      }),
  };
}
