import { describe, expect, it } from '@jest/globals';
import { createCors } from './cors.ts';
import { createOriginList, parseOrigins } from './origin-list.ts';

describe('parseOrigins', () => {
  it('returns origins and patterns', () => {
    const text = 'https://app.example.com http://localhost:5173,https://*.example.com https://shop-*.vercel.app:8443';
    expect(parseOrigins(text)).toEqual(text.split(/[ ,]/));
  });

  it('returns origins of native applications and of extensions of browsers', () => {
    const text = `capacitor://localhost ionic://localhost:8100 app://localhost chrome-extension://${'a'.repeat(32)}`;
    expect(parseOrigins(text)).toEqual(text.split(' '));
  });

  it.each([
    'https://app.example.com/',
    'app.example.com',
    'https://*.com',
    'https://*',
    'https://app.*',
    'ftp://*.example.com',
    'https://*.Example.com',
    'ftp://example.com',
    'file://localhost',
    'data://x',
    'javascript://x',
    'file:///',
    'capacitor://*',
    'capacitor://localhost/',
    'capacitor://',
    'Capacitor://localhost',
    'HTTPS://app.example.com',
    'https://app.example.com:443',
  ])('refuses %s, and names it', (text) => {
    const message = 'must be origins such as https://app.example.com, or patterns such as https://*.example.com, without a path or a slash';
    expect(() => parseOrigins(`https://a.example.com,${text}`)).toThrow(message);
    expect(() => parseOrigins(`https://a.example.com,${text}`)).toThrow(`; \`${text}\` is neither`);
  });

  it('never names a password', () => {
    expect(() => parseOrigins('https://user:hunter2@example.com')).not.toThrow('hunter2');
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

describe('CORS of a native application', () => {
  const cors = createCors({ origins: ['capacitor://localhost', 'chrome-extension://abc'], methods: ['POST'] });
  const headersFor = (origin: string) => cors.headersFor({ headers: { origin } });

  it.each(['capacitor://localhost', 'chrome-extension://abc'])('names its origin and answers its preflight requests: %s', (origin) => {
    const headers = headersFor(origin);
    expect(headers[headers.indexOf('access-control-allow-origin') + 1]).toBe(origin);
    const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } };
    expect(cors.answerPreflight(preflight)).toMatchObject({ isAllowed: true });
  });

  it.each(['capacitor://localhost:1', 'ionic://localhost', 'capacitor://localhost.evil.example', 'chrome-extension://ABC', 'null'])(
    'has no headers for %s',
    (origin) => {
      expect(headersFor(origin)).toEqual(['vary', 'Origin']);
    },
  );
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
