/** Compressed results and compressed request bodies, by both request readers (RFC 9110 §8.4, §12.5.3, §15.5.16). */
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { brotliCompressSync, brotliDecompressSync, constants, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Answer, type Federation, startFederation } from '../../stack/federation/federation.ts';

const subgraphs = {
  lists: {
    sdl: 'type Query { list(first: Int): [Int!]! length(text: String): Int }',
    resolvers: {
      Query: {
        list: (_: unknown, { first }: { first: number }) => Array.from({ length: first }, (__, i) => i),
        length: (_: unknown, { text }: { text: string }) => text.length,
      },
    },
  },
};

let lean: Federation;
let node: Federation;
let off: Federation;
beforeAll(async () => {
  lean = await startFederation(subgraphs, { env: { REQUEST_READER: 'lean', MAX_BODY_BYTES: '100000' } });
  node = await startFederation(subgraphs, { env: { REQUEST_READER: 'node', MAX_BODY_BYTES: '100000' } });
  off = await startFederation(subgraphs, { env: { RESPONSE_COMPRESSION: 'off' } });
});
afterAll(async () => {
  await lean.stop();
  await node.stop();
  await off.stop();
});

interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends a request by `node:http`, which changes neither codings nor lengths. */
function send(
  url: string,
  { method = 'POST', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: Buffer | string },
) {
  return new Promise<RawReply>((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) });
      });
    });
    outgoing.once('error', reject).end(body);
  });
}

const BOMB = brotliCompressSync(Buffer.alloc(5e7), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const LIST = JSON.stringify({ query: '{ list(first: 20000) }' });
const federations = () => [lean, node];
const codeOf = ({ bytes }: RawReply) => (JSON.parse(bytes.toString()) as Answer).errors?.[0]?.extensions['code'];

describe('a result', () => {
  it.each([
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
  ])('is compressed for Accept-Encoding: %s', async (accepted, coding, decompress) => {
    for (const { url } of federations()) {
      const plain = await send(url, { body: LIST });
      const reply = await send(url, { body: LIST, headers: { 'accept-encoding': accepted } });
      expect([reply.status, reply.headers['content-encoding']]).toEqual([200, coding]);
      expect(reply.headers['content-length']).toBe(String(reply.bytes.length));
      expect(decompress(reply.bytes).equals(plain.bytes)).toBe(true);
    }
  });

  it.each([undefined, 'gzip;q=0, br;q=0', 'zstd', 'identity'])('is not compressed for Accept-Encoding: %s', async (accepted) => {
    for (const { url } of federations()) {
      const reply = await send(url, { body: LIST, headers: accepted === undefined ? {} : { 'accept-encoding': accepted } });
      expect([reply.status, reply.headers['content-encoding']]).toEqual([200, undefined]);
      expect(reply.headers.vary).toContain('Accept-Encoding');
      expect(reply.bytes.length).toBeGreaterThan(100_000);
    }
  });

  it('is not compressed when server.compression is off, nor when it is small', async () => {
    const headers = { 'accept-encoding': 'gzip, br' };
    expect((await send(off.url, { body: LIST, headers })).headers['content-encoding']).toBeUndefined();
    expect((await send(lean.url, { body: '{"query":"{ list(first: 3) }"}', headers })).headers['content-encoding']).toBeUndefined();
  });

  it('has the same headers for HEAD as for GET', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const url = `${lean.url}?query=${encodeURIComponent('{ list(first: 20000) }')}`;
    const [get, head] = [await send(url, { method: 'GET', headers }), await send(url, { method: 'HEAD', headers })];
    for (const name of ['content-encoding', 'content-length', 'vary', 'content-type']) expect(head.headers[name]).toBe(get.headers[name]);
    expect([get.headers['content-encoding'], head.bytes.length]).toEqual(['gzip', 0]);
  });

  it('of one of many requests at once has the bytes of its own operation', async () => {
    const lengths = Array.from({ length: 300 }, (_, index) => 1000 + index);
    const replies = await Promise.all(
      lengths.map((first) =>
        send(lean.url, {
          body: JSON.stringify({ query: 'query($first: Int) { list(first: $first) }', variables: { first } }),
          headers: { 'accept-encoding': 'gzip' },
        }),
      ),
    );
    const sizes = replies.map(({ headers, bytes }) => {
      const text = headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      return ((JSON.parse(text.toString()) as Answer).data?.['list'] as unknown[]).length;
    });
    expect(sizes).toEqual(lengths);
  });
});

describe('a request body', () => {
  const text = JSON.stringify({ query: '{ length(text: "ä") }' }).padEnd(5000);

  it.each([
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
  ])('may be compressed by %s', async (coding, body) => {
    for (const { url } of federations()) {
      const reply = await send(url, { body, headers: { 'content-encoding': coding } });
      expect([reply.status, JSON.parse(reply.bytes.toString())]).toEqual([200, { data: { length: 1 } }]);
    }
  });

  it('gets 415 with Accept-Encoding for another coding, and without it for another media type', async () => {
    for (const { url } of federations()) {
      const coding = await send(url, { body: text, headers: { 'content-encoding': 'zstd' } });
      expect([coding.status, codeOf(coding), coding.headers['accept-encoding']]).toEqual([
        415,
        'UNSUPPORTED_MEDIA_TYPE',
        'gzip, br, deflate',
      ]);
      const type = await send(url, { body: text, headers: { 'content-type': 'text/plain' } });
      expect([type.status, type.headers['accept-encoding'], type.headers['accept-post']]).toEqual([415, undefined, expect.any(String)]);
    }
  });

  it('gets 415 with Accept-Encoding: identity when it has files', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'gzip', 'apollo-require-preflight': '1' };
    const reply = await send(lean.url, { body: gzipSync('--x--'), headers });
    expect([reply.status, reply.headers['accept-encoding']]).toEqual([415, 'identity']);
  });

  it.each([
    ['gzip', Buffer.from(text)],
    ['gzip', gzipSync(text).subarray(0, -5)],
    ['br', Buffer.alloc(1000, 0xff)],
    ['deflate', Buffer.alloc(0)],
    ['gzip', gzipSync('{')],
    ['gzip', gzipSync(Buffer.from([0xff, 0xfe]))],
  ])('gets 400 when it is not valid (%s)', async (coding, body) => {
    for (const { url } of federations()) {
      const reply = await send(url, { body, headers: { 'content-encoding': coding } });
      expect([reply.status, codeOf(reply)]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });

  it('gets 413 above limits.maxBodyBytes, as it is sent and decompressed', async () => {
    const large = JSON.stringify({ query: '{ length(text: "a") }' }).padEnd(100_001);
    for (const { url } of federations()) {
      expect((await send(url, { body: large.slice(0, 100_000) })).status).toBe(200);
      expect((await send(url, { body: large })).status).toBe(413);
      expect((await send(url, { body: gzipSync(large.slice(0, 100_000)), headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
      const bomb = await send(url, { body: BOMB, headers: { 'content-encoding': 'br' } });
      expect([bomb.status, codeOf(bomb)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    }
    expect((await request(off.url, { method: 'POST', body: large })).status).toBe(200);
  });
});
