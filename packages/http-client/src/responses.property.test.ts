/** Valid responses in every form, cut anywhere: the client reads what undici reads. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createUndiciClient } from './undici-client.ts';
import type { UpstreamClient } from './upstream-client.ts';
import { Fixtures, OPTIONS, post, writeParts } from './raw-server.ts';
import { ResponseReader } from './response-reader.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

const TOKEN = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const VISIBLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join('');
const text = (characters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...Array.from(characters)), { maxLength }).map((each) => each.join(''));
const value = fc.array(text(VISIBLE, 12), { maxLength: 4 }).map((words) => words.join(' ').trim());
const field = fc
  .tuple(
    fc.oneof(
      text(TOKEN, 8).map((name) => `x-${name}`),
      fc.constantFrom('X-Test', 'x-test'),
    ),
    value,
  )
  .map(([name, each]) => `${name}:${each === '' ? '' : ` ${each}`}\r\n`);
const fields = fc.array(field, { maxLength: 12 }).map((each) => each.join(''));
const data = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const extension = text(TOKEN, 6).map((name) => (name === '' ? '' : `;e${name}=1`));

/** Each form of framing, as the fields that state it and the bytes of the body. */
const framed = fc.oneof(
  data.map((body) => ({ body, stated: `Content-Length: ${String(body.length)}\r\n`, sent: body, isClosed: false })),
  data.map((body) => ({ body, stated: '', sent: body, isClosed: true })),
  fc
    .record({ chunks: fc.array(fc.tuple(data, extension, fc.boolean()), { maxLength: 6 }), last: extension, trailers: fields })
    .map((each) => {
      const chunks = each.chunks.filter(([chunk]) => chunk !== '');
      const toSize = (length: number, isUpper: boolean) => (isUpper ? length.toString(16).toUpperCase() : `0${length.toString(16)}`);
      const parts = chunks.map(([chunk, more, isUpper]) => `${toSize(chunk.length, isUpper)}${more}\r\n${chunk}\r\n`);
      const sent = `${parts.join('')}0${each.last}\r\n${each.trailers}\r\n`;
      return { body: chunks.map(([chunk]) => chunk).join(''), stated: 'transfer-encoding: Chunked\r\n', sent, isClosed: false };
    }),
);
const response = fc
  .record({
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    reason: value,
    // Not 100, which undici refuses; it is in responses.test.ts.
    interim: fc.array(fc.constantFrom('HTTP/1.1 102 Processing\r\nx-a: b\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'), {
      maxLength: 3,
    }),
    before: fields,
    after: fields,
    framed,
  })
  .map(({ status, reason, interim, before, after, framed: { body, stated, sent, isClosed } }) => ({
    status,
    body,
    isClosed,
    bytes: Buffer.from(`${interim.join('')}HTTP/1.1 ${String(status)} ${reason}\r\n${before}${stated}${after}\r\n${sent}`, 'latin1'),
  }));
/** Where to cut, as shares of the length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

function split(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const positions = [0, ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
  return positions.slice(1).flatMap((end, i) => (end > (positions[i] as number) ? [bytes.subarray(positions[i], end)] : []));
}

describe('a valid response', () => {
  it('has its body, however it is cut', () => {
    fc.assert(
      fc.property(response, cuts, ({ status, body, isClosed, bytes }, shares) => {
        const reader = new ResponseReader(1_000_000);
        const parts = split(bytes, shares);
        const isComplete = parts.map((part) => {
          part.copy(reader.nextBuffer());
          return reader.read(part.length);
        });
        expect(isComplete).toEqual(parts.map((_, i) => !isClosed && i === parts.length - 1));
        if (isClosed) expect(reader.finish()).toBe(true);
        expect(reader.isExact).toBe(true);
        expect(reader.status).toBe(status);
        expect(reader.bytes.toString('latin1', reader.bodyStart, reader.bodyEnd)).toBe(body);
      }),
      { numRuns: IS_LONG ? 3000 : 1000 },
    );
  });

  describe('from a server', () => {
    const fixtures = new Fixtures();
    let answer: (socket: Socket) => unknown;
    let lean: UpstreamClient;
    let undici: UpstreamClient;
    beforeAll(async () => {
      const server = await fixtures.listen((socket) => answer(socket));
      lean = fixtures.connect(server);
      undici = createUndiciClient(server.origin, OPTIONS);
    });
    afterAll(async () => {
      await undici.close();
      await fixtures.close();
    });

    it('is what undici reads', async () => {
      await fc.assert(
        fc.asyncProperty(response, cuts, async ({ isClosed, bytes }, shares) => {
          answer = async (socket) => {
            await writeParts(socket, split(bytes, shares));
            if (isClosed) socket.end();
          };
          const [ours, theirs] = await Promise.all([post(lean), post(undici)]);
          expect(ours).toEqual(theirs);
        }),
        { numRuns: IS_LONG ? 300 : 100 },
      );
    });
  });
});
