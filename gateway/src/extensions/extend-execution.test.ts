import { describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import { NOT_MEASURED, type RequestContext } from '../request/context.ts';
import { ExtendedRequest } from '../request/extended-request.ts';
import { NO_REPORTS, type OperationRequest } from '../request/operation.ts';
import { compileHooks } from './compile-hooks.ts';
import { type Execute, extendExecution } from './extend-execution.ts';
import type { Extension } from './extension.ts';

const extended = new ExtendedRequest({
  ...{ id: 'r1', transport: 'http', method: 'POST', url: '/graphql', headers: {}, client: undefined },
  setResponseHeader: () => undefined,
});
const LOGIN: OperationRequest = {
  ...{ query: 'mutation { login }', operationName: undefined, variables: {}, isReadOnly: false, reports: NO_REPORTS },
  context: { requestId: 'r1', extended } as RequestContext,
};

/** Runs the operation of a client that may only sign in. Returns what was executed, and the code of the result's first error. */
function run(extension: Omit<Extension, 'name'>) {
  const executed: string[] = [];
  const execute: Execute = ({ query }, done) => {
    executed.push(query);
    const bytes = Buffer.from('{"data":{}}');
    const ending = { outcome: 'complete', status: undefined, challenge: undefined, release: undefined } as const;
    done({ ...ending, operationKind: 'mutation', operationName: undefined, bytes, length: bytes.length });
  };
  const log = createLog({ service: 'test', level: 'silent' });
  const hooks = compileHooks([{ name: 'test', ...extension }], {
    timeoutMs: 50,
    measure: NOT_MEASURED,
    log,
    countFailure: () => undefined,
  });
  const check = ({ query }: OperationRequest) => {
    if (query !== LOGIN.query) throw fail('UNAUTHORIZED', 'The token is not valid.');
  };
  let result = '';
  extendExecution(execute, hooks, check)(LOGIN, ({ bytes, length }) => (result = bytes.toString('utf8', 0, length)));
  const { errors } = JSON.parse(result) as { readonly errors?: readonly { readonly extensions: { readonly code: string } }[] };
  return { executed, code: errors?.[0]?.extensions.code };
}

describe('extendExecution', () => {
  it('executes the operation of a client that a hook leaves as it is', () => {
    expect(run({ onOperation: () => undefined })).toEqual({ executed: [LOGIN.query], code: undefined });
  });

  it('refuses an operation in its place that the credential of the client does not allow', () => {
    const replaced = run({
      onOperation: ({ setOperation }) => {
        setOperation({ query: '{ me }' });
      },
    });
    expect(replaced).toEqual({ executed: [], code: 'UNAUTHORIZED' });
  });

  it('refuses what a hook refuses, also when it has replaced the operation before', () => {
    const refused = run({
      onOperation: ({ setOperation, refuse }) => {
        setOperation({ query: '{ me }' });
        refuse('FORBIDDEN', 'No.');
      },
    });
    expect(refused).toEqual({ executed: [], code: 'FORBIDDEN' });
  });
});
