import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { SendBuffers } from '../delivery/send-buffers.ts';
import { SendQueue } from '../delivery/send-queue.ts';
import { pack } from '../delivery/streamed-response.ts';
import { SocketOperation } from './socket-operation.ts';

const ignore = () => undefined;

/** Returns the messages for a refused operation with this result. */
function refuse(result: string): unknown[] {
  const stream = new PassThrough({ objectMode: true });
  const limits = { maxMessages: 10, maxBytes: 10_000, policy: 'close' as const };
  const buffers = new SendBuffers({ maxBytes: 10_000, stallTimeoutMs: 1000 });
  const queue = new SendQueue({ stream, limits, buffers, pack, onOverflow: ignore, onStalled: ignore, onDropped: ignore });
  const operation = new SocketOperation('1', { queue, isAuthorized: () => true, revoke: ignore, remove: ignore });
  const known = { status: undefined, challenge: undefined, operationKind: undefined, operationName: undefined, release: undefined };
  // A buffer of the pool is longer than its result.
  const bytes = Buffer.from(`${result}{"of":"another"}`);
  operation.sendResult({ ...known, outcome: 'refused', bytes, length: Buffer.byteLength(result) });
  const messages: unknown[] = [];
  for (let message = stream.read() as Buffer | null; message; message = stream.read() as Buffer | null)
    messages.push(JSON.parse(message.toString()));
  return messages;
}

describe('SocketOperation', () => {
  it.each([
    ['as the gateway writes it', '{"errors":[{"message":"é","extensions":{"code":"X"}}]}'],
    ['that an extension has written anew', '{ "extensions": {"a":1}, "errors" : [ {"message":"é","extensions":{"code":"X"}} ] }'],
  ])('sends the errors of a refused operation as `error`, from a result %s', (_, result) => {
    expect(refuse(result)).toEqual([{ id: '1', type: 'error', payload: [{ message: 'é', extensions: { code: 'X' } }] }]);
  });

  it.each([{ data: { a: 1 } }, { errors: [] }, { errors: 'No.' }, { errors: [null] }])(
    'sends a refused operation whose result an extension has replaced by %j as `next` and `complete`',
    (result) => {
      expect(refuse(JSON.stringify(result))).toEqual([
        { id: '1', type: 'next', payload: result },
        { id: '1', type: 'complete' },
      ]);
    },
  );
});
