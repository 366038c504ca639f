/** Ranges and content codings over real processes (RFC 9110 §8.4, §14; spec §7.3; contract §4). */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const tagOf = (reply: { headers: Headers }) => reply.headers.get('etag') ?? '';

describe('a range request', () => {
  const get = (headers: Record<string, string>) => stack.call('GET', `/v1/users/${ada.id}`, { headers });

  it('returns one range, a suffix, an open range, and several ranges', async () => {
    const whole = await get({});
    const size = whole.text.length;
    const one = await get({ range: 'bytes=0-9' });
    expect([one.status, one.text, one.headers.get('content-range')]).toEqual([206, whole.text.slice(0, 10), `bytes 0-9/${String(size)}`]);
    expect((await get({ range: 'bytes=-5' })).text).toBe(whole.text.slice(-5));
    expect((await get({ range: `bytes=5-` })).text).toBe(whole.text.slice(5));
    const several = await get({ range: 'bytes=0-1,4-5' });
    expect(several.headers.get('content-type')).toMatch(/^multipart\/byteranges; boundary=/);
    expect(several.text).toContain(`Content-Range: bytes 4-5/${String(size)}`);
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
  });

  it('answers 416 outside the representation, ignores an unknown unit, and answers 304 before 206', async () => {
    const { headers, text } = await get({});
    const beyond = await get({ range: 'bytes=99999-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${String(text.length)}`]);
    expect(beyond.body).toMatchObject({ error: { code: 'RANGE_NOT_SATISFIABLE' } });
    expect((await get({ range: 'lines=1-2' })).status).toBe(200);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"x"' })).status).toBe(200);
    expect((await get({ range: 'bytes=0-1', 'if-range': headers.get('etag') ?? '' })).status).toBe(206);
    expect((await get({ range: 'bytes=0-1', 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);
    expect((await stack.call('HEAD', `/v1/users/${ada.id}`, { headers: { range: 'bytes=0-1' } })).status).toBe(200);
  });
});

describe('a content coding', () => {
  /** `fetch` would decode it by itself. */
  const raw = async (encoding: string, headers: Record<string, string> = {}) => {
    const { request: begin } = await import('node:http');
    return new Promise<{ status: number; headers: Record<string, string | undefined>; bytes: Buffer }>((resolve, reject) => {
      begin(`${stack.rest}/v1/users?limit=100`, { headers: { 'accept-encoding': encoding, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string | undefined>,
            bytes: Buffer.concat(chunks),
          });
        });
      })
        .on('error', reject)
        .end();
    });
  };

  it('has its own entity tag in the response to a write, which that to a read has too', async () => {
    const body = { title: 'Long', body: 'trestle '.repeat(300) };
    const headers = { 'accept-encoding': 'gzip' };
    const made = await stack.call('POST', '/v1/posts', { token: ada.token, headers, body });
    const path = String(made.headers.get('location'));
    expect([made.status, made.headers.get('content-encoding')]).toEqual([201, 'gzip']);
    const read = await stack.call('GET', path, { token: ada.token, headers: { ...headers, 'if-none-match': tagOf(made) } });
    expect(read.status).toBe(304);
    const plain = await stack.call('GET', path, { token: ada.token, headers: { 'accept-encoding': 'identity' } });
    expect(tagOf(plain)).not.toBe(tagOf(made));
    // If-Match reads the version that each of them carries.
    const changed = await stack.call('PATCH', path, {
      token: ada.token,
      headers: { ...headers, 'if-match': tagOf(made) },
      body: { title: 'x' },
    });
    expect(changed.status).toBe(200);
  });

  it('has its own entity tag, which If-None-Match accepts', async () => {
    for (let i = 0; i < 6; i++) await stack.createAccount(`Extra ${String(i)}`);
    const [plain, br, gzip] = [await raw('identity'), await raw('br, gzip;q=0.5'), await raw('gzip')];
    expect([plain, br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'br', 'gzip']);
    expect(new Set([plain, br, gzip].map(({ headers }) => headers['etag'])).size).toBe(3);
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect((await raw('br', { 'if-none-match': br.headers['etag'] ?? '' })).status).toBe(304);
    expect((await raw('br', { 'if-none-match': plain.headers['etag'] ?? '' })).status).toBe(200);
  });
});
