import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import { SendBuffers } from './send-buffers.ts';
import { SendQueue, toEnvelope } from './send-queue.ts';
import { between } from './stream-format.ts';
import { StreamedOperation } from './streamed-operation.ts';
import { pack } from './streamed-response.ts';

const ignore = () => undefined;
const [EMPTY, LIST] = [toEnvelope(''), between('{"errors":', '}')];
const FORMAT = { result: EMPTY, ending: EMPTY, failure: LIST, reportsShutdown: true };

it.each([
  [
    'the credential is revoked',
    'UNAUTHORIZED',
    (operation: StreamedOperation) => {
      operation.revoke();
    },
  ],
  [
    'the process stops',
    'SERVICE_UNAVAILABLE',
    (operation: StreamedOperation) => {
      operation.finish(ignore);
    },
  ],
])('sends an error with the id of the request when %s', (_, code, end) => {
  const stream = new PassThrough();
  const limits = { maxMessages: 10, maxBytes: 1000, policy: 'close' as const };
  const buffers = new SendBuffers({ maxBytes: 1000, stallTimeoutMs: 1000 });
  const queue = new SendQueue({ stream, limits, buffers, pack, onOverflow: ignore, onStalled: ignore, onDropped: ignore });
  const operation = new StreamedOperation({
    context: { requestId: 'r1', cancellation: new Cancellation() },
    ...{ format: FORMAT, open: () => queue, isAuthorized: () => true, onBegin: ignore, onEnd: ignore },
  });
  const finish = (done: () => void) => {
    done();
  };
  operation.begin({ operationName: 'A', stop: ignore, finish });
  end(operation);
  const [, json = ''] = /"errors":(\[.*\])\}/.exec(String(stream.read())) ?? [];
  expect(JSON.parse(json)).toEqual([{ message: expect.any(String), extensions: { code, requestId: 'r1' } }]);
});
