/** Errors as a real Apollo server sends them (contract §3). */
import { describe, expect, it } from '@jest/globals';
import { ApolloServer, HeaderMap } from '@apollo/server';
import { createLog } from '@trestle/log';
import { INTERNAL_ERROR_MESSAGE, fail } from '@trestle/schema/errors';
import { GraphQLError } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { createErrorPlugin, formatError } from './errors.ts';

async function ask(
  createContext: () => RequestContext,
  query = '{ fault bug }',
): Promise<{ status: number | undefined; errors: unknown[] }> {
  const server = new ApolloServer<RequestContext>({
    typeDefs: 'type Query { fault: String, bug(a: Int): String }',
    resolvers: {
      Query: {
        fault() {
          throw fail('NOT_FOUND', 'No such thing', { details: [{ field: 'id', message: 'is unknown' }], retryAfterSeconds: 1 });
        },
        bug() {
          throw new Error('password is hunter2');
        },
      },
    },
    formatError,
    plugins: [createErrorPlugin(createLog({ service: 'test', level: 'silent' }))],
    stopOnTerminationSignals: false,
  });
  await server.start();
  const headers = new HeaderMap([['content-type', 'application/json']]);
  const request = { method: 'POST', headers, search: '', body: { query } };
  const { status, body } = await server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: request,
    context: () => Promise.resolve().then(createContext),
  });
  await server.stop();
  const text = body.kind === 'complete' ? body.string : '';
  return { status, errors: (JSON.parse(text) as { errors: unknown[] }).errors };
}

describe('an error', () => {
  it('has its code, details, retryAfter and the request id, and is masked unless it is meant for the client', async () => {
    const { errors } = await ask(() => ({ caller: null, requestId: 'r1', denials: new Map(), idempotency: null }));
    const details = [{ field: 'id', message: 'is unknown' }];
    expect(errors).toMatchObject([
      { message: 'No such thing', path: ['fault'], extensions: { code: 'NOT_FOUND', details, retryAfter: 1, requestId: 'r1' } },
      { message: INTERNAL_ERROR_MESSAGE, path: ['bug'], extensions: { code: 'INTERNAL_ERROR', requestId: 'r1' } },
    ]);
    expect(JSON.stringify(errors)).not.toContain('hunter2');
  });

  it.each(['{ bug', '{ nothing }', 'query ($a: Int!) { bug(a: $a) }', 'query A { bug } query B { bug }'])(
    'of a document or its variables has the code VALIDATION_ERROR: %s',
    async (query) => {
      const { errors } = await ask(() => ({ caller: null, requestId: 'r1', denials: new Map(), idempotency: null }), query);
      expect(errors).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR', requestId: 'r1' } }]);
    },
  );

  it('of the database that ends a subscription has the code SERVICE_UNAVAILABLE, so that the gateway subscribes again', () => {
    const originalError = Object.assign(new Error('Raw query failed'), {
      code: 'P2010',
      meta: { driverAdapterError: { cause: { originalCode: '57P01' } } },
    });
    const error = new GraphQLError(originalError.message, { originalError });
    expect(formatError(error.toJSON(), error)).toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 } });
  });

  it('of a refused credential has its code, its status and the request id', async () => {
    const refused = fail('UNAUTHORIZED', 'The token is not valid');
    const { status, errors } = await ask(() => {
      const extensions = { code: refused.code, requestId: 'r2', http: { status: 401 } };
      throw new GraphQLError(refused.message, { originalError: refused, extensions });
    });
    expect(status).toBe(401);
    expect(errors).toEqual([{ message: 'The token is not valid', extensions: { code: 'UNAUTHORIZED', requestId: 'r2' } }]);
  });
});
