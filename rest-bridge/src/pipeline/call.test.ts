import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import { type GatewayClient, createGatewayClient } from '../gateway/gateway-client.ts';
import { ResponseEnd } from '../http/response-end.ts';
import type { CompiledOperation } from '../operations/operations.ts';
import { call } from './call.ts';
import type { GatewayRequest } from './gateway-request.ts';

function toRequest(compiled: CompiledOperation, parts: Partial<GatewayRequest>): GatewayRequest {
  return {
    operation: () => compiled,
    selection: { fields: undefined, include: [] },
    isMutation: false,
    variables: {},
    files: undefined,
    headers: {},
    trace: undefined,
    cancellation: undefined,
    responseEnd: new ResponseEnd(),
    ...parts,
  };
}

/** Returns the fields of the fault that `call` throws when the gateway names these arguments. */
async function fieldsOf(names: readonly string[], isMutation: boolean): Promise<readonly string[]> {
  const details = names.map((field) => ({ field, message: 'is too long' }));
  const errors = [{ message: 'The request is not valid', extensions: { code: 'VALIDATION_ERROR', details } }];
  const gateway = { execute: () => Promise.resolve({ data: null, errors }) } as unknown as GatewayClient;
  const compiled = { bodyStart: '', resultPath: [] } as unknown as CompiledOperation;
  const error = await call(gateway, toRequest(compiled, { isMutation })).catch((thrown: unknown) => thrown);
  return (error as { details: readonly { field: string }[] }).details.map(({ field }) => field);
}

describe('details of VALIDATION_ERROR', () => {
  it('name the query parameters behind the arguments of a query', async () => {
    const names = ['first', 'before', 'query', 'types', 'filter.category', 'filter.ageGte', 'filter.search', 'id'];
    expect(await fieldsOf(names, false)).toEqual(['limit', 'cursor', 'q', 'type', 'category', 'age_gte', 'q', 'id']);
  });

  it('name the fields of the body as the arguments of a mutation', async () => {
    expect(await fieldsOf(['types', 'url'], true)).toEqual(['types', 'url']);
  });
});

describe('a query whose resource times out', () => {
  const TIMEOUT = { message: 'The subgraph "users" did not respond in time.', path: ['users'], extensions: { code: 'UPSTREAM_TIMEOUT' } };

  it.each([[['orders']], [['orders', 'posts']]])(
    'fails with the timeout when repeated queries get no answer: include=%j',
    async (include) => {
      let queries = 0;
      const server = createServer((incoming, response) => {
        incoming.resume();
        queries += 1;
        // The requests after the first one are not answered.
        if (queries === 1) response.end(JSON.stringify({ data: null, errors: [TIMEOUT] }));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
      const gateway = createGatewayClient({ url, timeoutMs: 600_000 });
      const compiled = { bodyStart: '{"query":"{ users { id } }","variables":', resultPath: ['users'] } as unknown as CompiledOperation;
      const request = toRequest(compiled, { selection: { fields: undefined, include }, cancellation: new Cancellation() });
      await expect(call(gateway, request)).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', message: TIMEOUT.message });
      expect(queries).toBe(1 + include.length);
      await gateway.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );
});
