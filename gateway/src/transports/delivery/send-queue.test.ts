import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SendBuffers } from './send-buffers.ts';
import { type Envelope, SendQueue, type SendQueueOptions, type SlowPolicy, toEnvelope } from './send-queue.ts';

const EVENT: Envelope = { head: Buffer.from('<'), tail: Buffer.from('>') };

const createBuffers = ({ maxBytes = 1e9, stallTimeoutMs = 60_000 } = {}) => new SendBuffers({ maxBytes, stallTimeoutMs });

/** A client that reads one message at a time, when `take` is called. */
function createClient(policy: SlowPolicy, { maxMessages = 3, maxBytes = 100, buffers = createBuffers() } = {}) {
  const read: string[] = [];
  const taking: (() => void)[] = [];
  const seen = { dropped: 0, overflows: 0, disconnects: 0 };
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      read.push(chunk.toString());
      taking.push(done);
    },
  });
  const options: SendQueueOptions & { stream: Writable } = {
    stream,
    limits: { maxMessages, maxBytes, policy },
    pack: ({ head, tail }, body) => Buffer.concat([head, body, tail]),
    onDropped: () => seen.dropped++,
    buffers,
    onOverflow: () => seen.overflows++,
    onStalled: () => seen.disconnects++,
  };
  const queue = new SendQueue(options);
  const take = async () => {
    while (taking.length > 0) {
      taking.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    queue,
    options,
    read,
    seen,
    take,
    send: (text: string) => {
      queue.sendDroppable(EVENT, Buffer.from(text));
    },
  };
}

describe('SendQueue', () => {
  it('writes at once, and in order when the client reads again', async () => {
    const { send, take, read } = createClient('close');
    for (const text of ['a', 'b', 'c']) send(text);
    expect(read).toEqual(['<a>']);
    await take();
    expect(read).toEqual(['<a>', '<b>', '<c>']);
  });

  it('overflows with one message too many, and writes nothing more', async () => {
    const { send, take, read, seen } = createClient('close');
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) send(text);
    expect(seen.overflows).toBe(1);
    await take();
    expect(read).toEqual(['<a>']);
  });

  it('overflows with one byte too many', () => {
    const { send, seen } = createClient('close', { maxBytes: 12 });
    send('first');
    send('x'.repeat(10));
    expect(seen.overflows).toBe(0);
    send('');
    expect(seen.overflows).toBe(1);
  });

  it('counts the bytes of envelopes', () => {
    const { queue, seen } = createClient('drop-oldest', { maxBytes: 1000 });
    for (let n = 0; n < 2; n++) queue.send(toEnvelope('x'.repeat(999)));
    expect(seen.overflows).toBe(0);
    queue.send(toEnvelope('yy'));
    expect(seen.overflows).toBe(1);
  });

  it('queues messages until a stream is attached, and writes them in order then', async () => {
    const later = createClient('close');
    const early = new SendQueue({ ...later.options, stream: undefined });
    early.send(toEnvelope('a'));
    early.send(toEnvelope('b'));
    expect(early.queuedBytes).toBe(2);
    early.attach(later.options.stream);
    early.send(toEnvelope('c'));
    await later.take();
    expect(later.read).toEqual(['a', 'b', 'c']);
    expect(early.queuedBytes).toBe(0);
  });

  it('drops the oldest events by drop-oldest, and no other message', async () => {
    const { queue, send, take, read, seen } = createClient('drop-oldest');
    for (const text of ['a', 'b', 'c']) send(text);
    queue.send(toEnvelope('end of 1'));
    for (const text of ['d', 'e']) send(text);
    await take();
    expect(read).toEqual(['<a>', 'end of 1', '<d>', '<e>']);
    expect(seen).toEqual({ dropped: 2, overflows: 0, disconnects: 0 });
  });

  it.each(['drop-oldest', 'drop-newest'] as const)('overflows instead of dropping an event with a position by %s', (policy) => {
    const { queue, seen } = createClient(policy);
    for (const position of ['1', '2', '3', '4', '5']) queue.sendEvent(EVENT, { bytes: Buffer.from('x'), position });
    expect(seen).toEqual({ dropped: 0, overflows: 1, disconnects: 0 });
  });

  it('drops the newest events by drop-newest, and no other message', async () => {
    const { queue, send, take, read, seen } = createClient('drop-newest', { maxMessages: 2 });
    for (const text of ['a', 'b', 'c', 'd']) send(text);
    await take();
    send('e');
    queue.send(toEnvelope('end'));
    await take();
    expect(read).toEqual(['<a>', '<b>', '<c>', '<e>', 'end']);
    expect(seen).toEqual({ dropped: 1, overflows: 0, disconnects: 0 });
  });

  it('overflows when no message is droppable', () => {
    const { queue, seen } = createClient('drop-oldest');
    for (let n = 0; n < 5; n++) queue.send(toEnvelope('pong'));
    expect(seen.overflows).toBe(1);
  });

  it('calls back when no message is queued', async () => {
    const { queue, send, take } = createClient('close');
    let calls = 0;
    queue.whenEmpty(() => calls++);
    expect(calls).toBe(1);
    for (const text of ['a', 'b']) send(text);
    queue.whenEmpty(() => calls++);
    expect(calls).toBe(1);
    await take();
    expect(calls).toBe(2);
  });

  it('keeps the order within its limits for any sequence of messages and reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<SlowPolicy>('drop-oldest', 'drop-newest'),
        fc.array(fc.oneof(fc.constant('take' as const), fc.constant('send' as const)), { maxLength: 60 }),
        async (policy, steps) => {
          const { send, take, read, seen } = createClient(policy);
          let sent = 0;
          for (const step of steps) {
            if (step === 'send') send(String(sent++).padStart(3, '0'));
            else await take();
          }
          await take();
          expect(read).toEqual([...read].sort());
          expect(read.length + seen.dropped).toBe(sent);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('SendBuffers', () => {
  it('disconnects the client with the most bytes beyond the limit, and no other', async () => {
    const buffers = createBuffers({ maxBytes: 20_000 });
    const clients = [2000, 9000, 3000].map((length) => ({ ...createClient('close', { maxBytes: 50_000, buffers }), length }));
    for (const { send, length } of clients) for (let n = 0; n < 2; n++) send('x'.repeat(length));
    expect(clients.map(({ seen }) => seen.disconnects)).toEqual([0, 1, 0]);
    expect(buffers.bytes).toBeLessThan(20_000);
    for (const { take } of clients) await take();
    expect(clients.map(({ read }) => read.length)).toEqual([2, 1, 2]);
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });

  it('counts bytes that several queues share once', () => {
    const buffers = createBuffers();
    const shared = Buffer.from('x'.repeat(90_000));
    const clients = Array.from({ length: 10 }, () => createClient('close', { maxBytes: 200_000, buffers }));
    for (const { queue } of clients) queue.send(EVENT);
    for (const { queue } of clients) queue.sendDroppable(EVENT, shared);
    expect(buffers.bytes).toBeLessThan(100_000);
    for (const { queue } of clients) queue.close();
    expect(buffers.bytes).toBeLessThan(100);
  });

  it('forgets the bytes of a client when its stream closes', async () => {
    const buffers = createBuffers();
    const { send, options } = createClient('close', { buffers });
    for (const text of ['a', 'b', 'c']) send(text);
    options.stream.destroy();
    await once(options.stream, 'close');
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });

  it('disconnects a client that reads nothing for the stall timeout', async () => {
    const buffers = createBuffers({ stallTimeoutMs: 100 });
    const { send, seen } = createClient('drop-oldest', { buffers });
    send('a');
    while (seen.disconnects === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });
});
