/** Frames are read back by the library that clients read them with. */
import type { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import * as ws from 'ws';
import { toTextFrame } from './frame.ts';

/** Gives the messages that a client would read of these bytes. */
function read(bytes: Buffer): string[] {
  const messages: string[] = [];
  // The types leave it out.
  const { Receiver } = ws as unknown as { Receiver: new (options: object) => Writable };
  const receiver = new Receiver({ isServer: false, maxPayload: 10_000_000 });
  receiver.on('message', (data: Buffer) => messages.push(data.toString()));
  receiver.write(bytes);
  return messages;
}

const frameOf = (head: string, body: string, tail: string) =>
  toTextFrame({ head: Buffer.from(head), tail: Buffer.from(tail) }, Buffer.from(body));

describe('a text frame', () => {
  it('is what was put into it, whatever that is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        (head, body, tail) => {
          const text = Buffer.from(head + body + tail).toString();
          const whole = Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from(tail)]).toString();
          // A surrogate that is torn in two is none in UTF-8.
          fc.pre(text === whole);
          expect(read(frameOf(head, body, tail))).toEqual([text]);
        },
      ),
    );
  });

  it.each([0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000])('may be %i bytes long', (length) => {
    expect(read(frameOf('', 'x'.repeat(length), ''))).toEqual(['x'.repeat(length)]);
    if (length > 2) expect(read(frameOf('{', 'x'.repeat(length - 2), '}'))).toEqual([`{${'x'.repeat(length - 2)}}`]);
  });

  it('follows another one', () => {
    expect(read(Buffer.concat([frameOf('a', 'b', 'c'), frameOf('d', 'e'.repeat(200), 'f')]))).toEqual(['abc', `d${'e'.repeat(200)}f`]);
  });
});
