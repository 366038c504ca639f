import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { SendBuffers } from '../delivery/send-buffers.ts';
import { SendQueue } from '../delivery/send-queue.ts';
import { pack } from '../delivery/streamed-response.ts';
import { readAll } from '../delivery/test-stream.ts';
import { SocketOperations } from './socket-operations.ts';

const ignore = () => undefined;

it.each([
  ['one operation too many', 10, 2],
  ['an operation beyond the bytes of a connection', 60, 100],
])('refuses %s with an id of the request and with what is left of the limit', (_, bytes, limit) => {
  const stream = new PassThrough();
  const limits = { maxMessages: 10, maxBytes: 10_000, policy: 'close' as const };
  const buffers = new SendBuffers({ maxBytes: 10_000, stallTimeoutMs: 1000 });
  const queue = new SendQueue({ stream, limits, buffers, pack, onOverflow: ignore, onStalled: ignore, onDropped: ignore });
  const operations = new SocketOperations({ maxOperations: 2, maxMessageBytes: 100 }, { queue, isAuthorized: () => true, revoke: ignore });
  const added = ['a', 'b', 'c'].map((id) => operations.add(id, bytes));
  expect(added.at(-1)).toBeUndefined();
  const last = `{"id":"c"${readAll(stream).split('{"id":"c"')[1] ?? ''}`;
  const extensions = {
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfter: 1,
    limit,
    remaining: 0,
    resetAt: expect.any(String),
    requestId: expect.any(String),
  };
  expect(JSON.parse(last)).toMatchObject({ type: 'error', payload: [{ extensions }] });
});
