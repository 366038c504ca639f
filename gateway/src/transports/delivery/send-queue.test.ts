import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Envelope, Mailbox, type MailboxOptions, type SlowPolicy, toEnvelope } from './send-queue.ts';
import { SendBuffers } from './send-buffers.ts';

const EVENT: Envelope = { head: Buffer.from('<'), tail: Buffer.from('>') };

const createBuffers = ({ maxBytes = 1e9, stallTimeoutMs = 60_000 } = {}) => new SendBuffers({ maxBytes, stallTimeoutMs });

/** A client that takes one message at a time, when it is told to. */
function createClient(policy: SlowPolicy, { maxMessages = 3, maxBytes = 100, buffers = createBuffers() } = {}) {
  const read: string[] = [];
  const taking: (() => void)[] = [];
  const seen = { dropped: 0, overflows: 0, cuts: 0 };
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      read.push(chunk.toString());
      taking.push(done);
    },
  });
  const options: MailboxOptions & { stream: Writable } = {
    stream,
    limits: { maxMessages, maxBytes, policy },
    pack: ({ head, tail }, body) => Buffer.concat([head, body, tail]),
    onDropped: () => seen.dropped++,
    buffers,
    onOverflow: () => seen.overflows++,
    onStuck: () => seen.cuts++,
  };
  const mailbox = new Mailbox(options);
  const take = async () => {
    while (taking.length > 0) {
      taking.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    mailbox,
    options,
    read,
    seen,
    take,
    say: (text: string) => {
      mailbox.postEvent(EVENT, Buffer.from(text));
    },
  };
}

describe('a mailbox', () => {
  it('sends at once, and in order once the client reads again', async () => {
    const { say, take, read } = createClient('close');
    for (const text of ['a', 'b', 'c']) say(text);
    expect(read).toEqual(['<a>']);
    await take();
    expect(read).toEqual(['<a>', '<b>', '<c>']);
  });

  it('is closed with one message too many, and sends nothing more', async () => {
    const { say, take, read, seen } = createClient('close');
    for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) say(text);
    expect(seen.overflows).toBe(1);
    await take();
    expect(read).toEqual(['<a>']);
  });

  it('is closed with one byte too many', () => {
    const { say, seen } = createClient('close', { maxBytes: 12 });
    say('first');
    say('x'.repeat(10));
    expect(seen.overflows).toBe(0);
    say('');
    expect(seen.overflows).toBe(1);
  });

  it('counts what stands before and behind a message, and messages that are nothing else', () => {
    const { mailbox, seen } = createClient('drop-oldest', { maxBytes: 1000 });
    for (let n = 0; n < 2; n++) mailbox.post(toEnvelope('x'.repeat(999)));
    expect(seen.overflows).toBe(0);
    mailbox.post(toEnvelope('yy'));
    expect(seen.overflows).toBe(1);
  });

  it('keeps messages for a stream that is named later, and sends them in order then', async () => {
    const later = createClient('close');
    const early = new Mailbox({ ...later.options, stream: undefined });
    early.post(toEnvelope('a'));
    early.post(toEnvelope('b'));
    expect(early.keptBytes).toBe(2);
    early.attach(later.options.stream);
    early.post(toEnvelope('c'));
    await later.take();
    expect(later.read).toEqual(['a', 'b', 'c']);
    expect(early.keptBytes).toBe(0);
  });

  it('drops the oldest events, never an end', async () => {
    const { mailbox, say, take, read, seen } = createClient('drop-oldest');
    for (const text of ['a', 'b', 'c']) say(text);
    mailbox.post(toEnvelope('end of 1'));
    for (const text of ['d', 'e']) say(text);
    await take();
    expect(read).toEqual(['<a>', 'end of 1', '<d>', '<e>']);
    expect(seen).toEqual({ dropped: 2, overflows: 0, cuts: 0 });
  });

  it.each(['drop-oldest', 'drop-newest'] as const)('of somebody who asks for positions drops none by %s, but is closed', (policy) => {
    const { mailbox, seen } = createClient(policy);
    for (const position of ['1', '2', '3', '4', '5']) mailbox.postLive(EVENT, { bytes: Buffer.from('x'), position });
    expect(seen).toEqual({ dropped: 0, overflows: 1, cuts: 0 });
  });

  it('drops the newest events, never an end', async () => {
    const { mailbox, say, take, read, seen } = createClient('drop-newest', { maxMessages: 2 });
    for (const text of ['a', 'b', 'c', 'd']) say(text);
    await take();
    say('e');
    mailbox.post(toEnvelope('end'));
    await take();
    expect(read).toEqual(['<a>', '<b>', '<c>', '<e>', 'end']);
    expect(seen).toEqual({ dropped: 1, overflows: 0, cuts: 0 });
  });

  it('is closed when there is nothing left that may be dropped', () => {
    const { mailbox, seen } = createClient('drop-oldest');
    for (let n = 0; n < 5; n++) mailbox.post(toEnvelope('pong'));
    expect(seen.overflows).toBe(1);
  });

  it('tells when nothing is kept', async () => {
    const { mailbox, say, take } = createClient('close');
    let told = 0;
    mailbox.whenEmpty(() => told++);
    expect(told).toBe(1);
    for (const text of ['a', 'b']) say(text);
    mailbox.whenEmpty(() => told++);
    expect(told).toBe(1);
    await take();
    expect(told).toBe(2);
  });

  it('keeps the order and its limits, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<SlowPolicy>('drop-oldest', 'drop-newest'),
        fc.array(fc.oneof(fc.constant('take' as const), fc.constant('say' as const)), { maxLength: 60 }),
        async (policy, steps) => {
          const { say, take, read, seen } = createClient(policy);
          let said = 0;
          for (const step of steps) {
            if (step === 'say') say(String(said++).padStart(3, '0'));
            else await take();
          }
          await take();
          expect(read).toEqual([...read].sort());
          expect(read.length + seen.dropped).toBe(said);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('what waits for all clients together', () => {
  it('is bounded: the client that holds the most is cut, and the others go on', async () => {
    const buffers = createBuffers({ maxBytes: 20_000 });
    const clients = [2000, 9000, 3000].map((length) => ({ ...createClient('close', { maxBytes: 50_000, buffers }), length }));
    for (const { say, length } of clients) for (let n = 0; n < 2; n++) say('x'.repeat(length));
    expect(clients.map(({ seen }) => seen.cuts)).toEqual([0, 1, 0]);
    expect(buffers.bytes).toBeLessThan(20_000);
    for (const { take } of clients) await take();
    expect(clients.map(({ read }) => read.length)).toEqual([2, 1, 2]);
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });

  it('counts bytes that several clients share once', () => {
    const buffers = createBuffers();
    const shared = Buffer.from('x'.repeat(90_000));
    const clients = Array.from({ length: 10 }, () => createClient('close', { maxBytes: 200_000, buffers }));
    for (const { mailbox } of clients) mailbox.post(EVENT);
    for (const { mailbox } of clients) mailbox.postEvent(EVENT, shared);
    expect(buffers.bytes).toBeLessThan(100_000);
    for (const { mailbox } of clients) mailbox.close();
    expect(buffers.bytes).toBeLessThan(100);
  });

  it('is forgotten when the stream closes', async () => {
    const buffers = createBuffers();
    const { say, options } = createClient('close', { buffers });
    for (const text of ['a', 'b', 'c']) say(text);
    options.stream.destroy();
    await once(options.stream, 'close');
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });

  it('is not kept for a client that reads nothing for a set time', async () => {
    const buffers = createBuffers({ stallTimeoutMs: 100 });
    const { say, seen } = createClient('drop-oldest', { buffers });
    say('a');
    while (seen.cuts === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(buffers).toMatchObject({ bytes: 0, clients: 0 });
  });
});
