/** Renders large results as bytes, where Apollo Server would make a string of megabytes (`json-bytes.ts` of the package `service`). */
import type { ApolloServerPlugin } from '@apollo/server';
import { hasLongList, writeJson } from '@trestle/service/json-bytes';
import type { RequestContext } from '../request/context.ts';

/**
 * A plugin that renders a large result where the context has a place for its bytes. Apollo Server then returns a text without meaning. Must be the last
 * plugin that changes results.
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
