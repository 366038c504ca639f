import { describe, expect, it } from '@jest/globals';
import type { GatewayClient } from '../gateway/gateway-client.ts';
import { ResponseEnd } from '../http/response-end.ts';
import type { CompiledOperation } from '../operations/operations.ts';
import { call } from './call.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** Returns the fields of the fault that `call` throws when the gateway names these arguments. */
async function fieldsOf(names: readonly string[], isMutation: boolean): Promise<readonly string[]> {
  const details = names.map((field) => ({ field, message: 'is too long' }));
  const errors = [{ message: 'The request is not valid', extensions: { code: 'VALIDATION_ERROR', details } }];
  const gateway = { execute: () => Promise.resolve({ data: null, errors }) } as unknown as GatewayClient;
  const compiled = { bodyStart: '', resultPath: [] } as unknown as CompiledOperation;
  const request: GatewayRequest = {
    operation: () => compiled,
    selection: { fields: undefined, include: [] },
    isMutation,
    variables: {},
    files: undefined,
    headers: {},
    trace: undefined,
    cancellation: undefined,
    responseEnd: new ResponseEnd(),
  };
  const error = await call(gateway, request).catch((thrown: unknown) => thrown);
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
