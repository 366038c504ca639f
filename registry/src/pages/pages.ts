/** What the registry serves to browsers: GraphiQL at `/graphql`, and the reference of its API at `/docs`. */
import type { HttpOptions } from '@trestle/chassis/server/apollo-server';
import { reportOf } from '@trestle/chassis/server/request-telemetry';
import { createGraphiql } from '@trestle/service/messages/graphiql';
import { PAGE_TYPE, toPageHeaders } from '@trestle/service/messages/page';
import type { GraphQLSchema } from 'graphql';
import { REFERENCE_STYLE, toReferencePage } from './reference-page.ts';

/** The bundle of GraphiQL, from `src` and from `dist`: the same files that the gateway serves. */
const GRAPHIQL = new URL('../../../gateway/dist/graphiql/', import.meta.url);
const DOCS = '/docs';
/** The route under which GraphiQL is counted, with its assets and the redirect to it, as at the gateway. */
const GRAPHQL = '/graphql';

/** Creates the handler of pages. Any other request is passed on. */
export function createPages(schema: GraphQLSchema): NonNullable<HttpOptions['pages']> {
  const serveGraphiql = createGraphiql(GRAPHIQL);
  const reference = Buffer.from(toReferencePage(schema));
  const headers = {
    ...toPageHeaders(REFERENCE_STYLE),
    ...{ 'content-type': PAGE_TYPE, 'content-length': String(reference.length), 'cache-control': 'no-cache' },
  };
  return (request, response, next) => {
    const report = reportOf(response);
    const { requestId } = report;
    if (serveGraphiql({ request, response, requestId }, () => undefined)) {
      report.route = GRAPHQL;
      return;
    }
    if (request.url !== DOCS || (request.method !== 'GET' && request.method !== 'HEAD')) {
      next();
      return;
    }
    report.route = DOCS;
    response.writeHead(200, { ...headers, 'x-request-id': requestId });
    response.end(request.method === 'HEAD' ? undefined : reference);
  };
}
