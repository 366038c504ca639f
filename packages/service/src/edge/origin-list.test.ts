import { describe, expect, it } from '@jest/globals';
import { createCors } from './cors.ts';
import { createOriginList, parseOrigins } from './origin-list.ts';

describe('parseOrigins', () => {
  it('returns origins and patterns', () => {
    const text = 'https://app.example.com http://localhost:5173,https://*.example.com https://shop-*.vercel.app:8443';
    expect(parseOrigins(text)).toEqual(text.split(/[ ,]/));
  });

  it.each([
    'https://app.example.com/',
    'app.example.com',
    'https://*.com',
    'https://*',
    'https://app.*',
    'ftp://*.example.com',
    'https://*.Example.com',
  ])('refuses %s', (text) => {
    expect(() => parseOrigins(text)).toThrow('must be origins such as https://app.example.com, or patterns');
  });

  it('refuses `*`, and says what to write', () => {
    expect(() => parseOrigins('*')).toThrow('must not be `*`: pages of any site could act for their visitors');
  });
});

describe('an origin of a list', () => {
  const list = createOriginList(['http://localhost:5173', 'https://*.example.com', 'https://shop-*.vercel.app']);

  it.each(['http://localhost:5173', 'https://a.example.com', 'https://shop-git-main-1.vercel.app'])(
    'is named or fits a pattern: %s',
    (origin) => {
      expect(list.has(origin)).toBe(true);
    },
  );

  it.each([
    'https://example.com',
    'https://a.b.example.com',
    'https://.example.com',
    'http://a.example.com',
    'https://a.example.com:444',
    'https://a.example.com.evil.example',
    'https://evil.example/.example.com',
    'https://evil.example#.example.com',
    'https://aXexample.com',
    'https://a.example.com\n',
    'https://shop-.vercel.app',
    'https://myshop-1.vercel.app',
    'null',
  ])('is no other: %j', (origin) => {
    expect(list.has(origin)).toBe(false);
  });
});

describe('CORS with patterns', () => {
  const cors = createCors({
    ...{ origins: ['https://*.example.com'], methods: ['POST'] },
    ...{ requestHeaders: ['sentry-trace'], responseHeaders: ['x-served-by'] },
  });
  const headersFor = (origin: string) => cors.headersFor({ headers: { origin } });

  it('names the origin of the request and never `*`, and exposes the headers of the process', () => {
    const headers = headersFor('https://a.example.com');
    expect(headers[headers.indexOf('access-control-allow-origin') + 1]).toBe('https://a.example.com');
    expect(headers[headers.indexOf('access-control-expose-headers') + 1]).toMatch(/, x-served-by$/);
    expect(headersFor('https://evil.example')).toEqual(['vary', 'Origin']);
  });

  it('answers preflight requests of origins that fit', () => {
    const headers = { origin: 'https://b.example.com', 'access-control-request-method': 'POST' };
    const answer = cors.answerPreflight({ method: 'OPTIONS', headers });
    expect(answer).toMatchObject({ isAllowed: true });
    expect(JSON.stringify(answer)).toContain(', sentry-trace"');
    expect(cors.answerPreflight({ method: 'OPTIONS', headers: { ...headers, origin: 'https://b.example.org' } })).toEqual({
      isAllowed: false,
    });
  });

  it('keeps the headers of a bounded number of origins', () => {
    const first = headersFor('https://a.example.com');
    expect(headersFor('https://a.example.com')).toBe(first);
    for (let i = 0; i < 3000; i++) headersFor(`https://a${String(i)}.example.com`);
    expect(headersFor('https://a.example.com')).not.toBe(first);
  });
});
