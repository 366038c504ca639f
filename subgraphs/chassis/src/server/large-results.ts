/** Renders large results as bytes, where Apollo Server would make a string of megabytes (`json-bytes.ts` of the package `service`). */
import type { ApolloServerPlugin } from '@apollo/server';
import { hasLongList, writeJson } from '@trestle/service/process/json-bytes';
import type { RequestContext } from '../request/context.ts';

/**
 * A plugin that writes a large result into `largeResult` of the context, if there is one. Apollo Server then gets an empty result, and the endpoint sends
 * the bytes instead of its text. Must be the last plugin that changes results.
 */
export const largeResultPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      willSendResponse: ({ contextValue: { largeResult }, response: { body } }) => {
        if (largeResult && body.kind === 'single' && hasLongList(body.singleResult)) {
          const { errors, data, extensions } = body.singleResult;
          // The order in which Apollo Server writes them.
          largeResult.rendered = writeJson({ errors, data, extensions });
          body.singleResult = {};
        }
        return Promise.resolve();
      },
    }),
};
