import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import { SendBuffers } from './send-buffers.ts';
import { SendQueue, toEnvelope } from './send-queue.ts';
import { between } from './stream-format.ts';
import { StreamedOperation } from './streamed-operation.ts';
import { pack } from './streamed-response.ts';
import { readAll } from './test-stream.ts';

const ignore = () => undefined;
const FORMAT = { result: toEnvelope(''), ending: toEnvelope('end'), failure: between('{"errors":', '}'), reportsShutdown: true };

function create() {
  const stream = new PassThrough();
  const limits = { maxMessages: 10, maxBytes: 1000, policy: 'close' as const };
  const buffers = new SendBuffers({ maxBytes: 1000, stallTimeoutMs: 1000 });
  const queue = new SendQueue({ stream, limits, buffers, pack, onOverflow: ignore, onStalled: ignore, onDropped: ignore });
  const operation = new StreamedOperation({
    context: { requestId: 'r1', cancellation: new Cancellation() },
    ...{ format: FORMAT, open: () => queue, isAuthorized: () => true, onBegin: ignore, onEnd: ignore },
  });
  return { stream, operation };
}

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
  const { stream, operation } = create();
  const finish = (done: () => void) => {
    done();
  };
  operation.begin({ operationName: 'A', stop: ignore, finish });
  end(operation);
  const [, json = ''] = /"errors":(\[.*\])\}/.exec(readAll(stream)) ?? [];
  expect(JSON.parse(json)).toEqual([{ message: expect.any(String), extensions: { code, requestId: 'r1' } }]);
});

describe('an operation that runs while the process begins to stop', () => {
  it('sends its result before it is finished', () => {
    const { stream, operation } = create();
    let finished = 0;
    operation.finish(() => finished++);
    expect(finished).toBe(0);
    const bytes = Buffer.from('{"data":{}}');
    const known = { status: undefined, challenge: undefined, operationKind: 'mutation', operationName: undefined } as const;
    operation.sendResult({ ...known, outcome: 'complete', bytes, length: bytes.length, release: undefined });
    expect([readAll(stream), finished]).toEqual(['{"data":{}}end', 1]);
  });

  it('ends when it turns out to be a subscription', () => {
    const { stream, operation } = create();
    let finished = 0;
    operation.finish(() => finished++);
    operation.begin({
      operationName: 'A',
      stop: ignore,
      finish: (done) => {
        done();
      },
    });
    expect([readAll(stream), finished]).toEqual([expect.stringContaining('SERVICE_UNAVAILABLE'), 1]);
  });
});
