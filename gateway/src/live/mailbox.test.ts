import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Envelope, Mailbox, type SlowPolicy, toEnvelope } from './mailbox.ts';

const EVENT: Envelope = { head: Buffer.from('<'), tail: Buffer.from('>') };

/** A client that takes one message at a time, when it is told to. */
function createClient(policy: SlowPolicy, { maxMessages = 3, maxBytes = 100 } = {}) {
  const read: string[] = [];
  const taking: (() => void)[] = [];
  const seen = { dropped: 0, overflows: 0 };
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      read.push(chunk.toString());
      taking.push(done);
    },
  });
  const mailbox = new Mailbox({
    stream,
    limits: { maxMessages, maxBytes, policy },
    pack: ({ head, tail }, body) => Buffer.concat([head, body, tail]),
    onDropped: () => seen.dropped++,
    onOverflow: () => seen.overflows++,
  });
  const take = async () => {
    while (taking.length > 0) {
      taking.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    mailbox,
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
    const { say, seen } = createClient('close', { maxBytes: 10 });
    say('first');
    say('x'.repeat(10));
    expect(seen.overflows).toBe(0);
    say('y');
    expect(seen.overflows).toBe(1);
  });

  it('drops the oldest events, never an end', async () => {
    const { mailbox, say, take, read, seen } = createClient('drop-oldest');
    for (const text of ['a', 'b', 'c']) say(text);
    mailbox.post(toEnvelope('end of 1'));
    for (const text of ['d', 'e']) say(text);
    await take();
    expect(read).toEqual(['<a>', 'end of 1', '<d>', '<e>']);
    expect(seen).toEqual({ dropped: 2, overflows: 0 });
  });

  it.each(['drop-oldest', 'drop-newest'] as const)('of somebody who asks for positions drops none by %s, but is closed', (policy) => {
    const { mailbox, seen } = createClient(policy);
    for (const position of ['1', '2', '3', '4', '5']) mailbox.postLive(EVENT, { bytes: Buffer.from('x'), position });
    expect(seen).toEqual({ dropped: 0, overflows: 1 });
  });

  it('drops the newest events, never an end', async () => {
    const { mailbox, say, take, read, seen } = createClient('drop-newest', { maxMessages: 2 });
    for (const text of ['a', 'b', 'c', 'd']) say(text);
    await take();
    say('e');
    mailbox.post(toEnvelope('end'));
    await take();
    expect(read).toEqual(['<a>', '<b>', '<c>', '<e>', 'end']);
    expect(seen).toEqual({ dropped: 1, overflows: 0 });
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
