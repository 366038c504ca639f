/** Adds the header `Idempotent-Replayed: true` to responses that hold the stored result of an earlier request (contract §4). */
import type { ApolloServerPlugin } from '@apollo/server';
import type { RequestContext } from '../request/context.ts';

/** The plugin for Apollo Server. */
export const replayPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      willSendResponse: ({ contextValue: { idempotency }, response: { http } }) => {
        if (idempotency?.replayed) http.headers.set('idempotent-replayed', 'true');
        return Promise.resolve();
      },
    }),
};
