import { describe, expect, it } from '@jest/globals';
import { type CorsOptions, createCors } from './cors.ts';

const PAGE = 'https://app.example.com';
const PREFLIGHT = { method: 'OPTIONS', headers: { origin: PAGE, 'access-control-request-method': 'POST' } };
const open = (options: Partial<CorsOptions> = {}) => createCors({ origins: [PAGE], methods: ['GET', 'POST'], ...options });

/** Returns the value of a header in a list of names and values. */
const valueOf = (list: readonly string[], name: string) => (list.includes(name) ? list[list.indexOf(name) + 1] : undefined);
const preflight = (options?: Partial<CorsOptions>) => {
  const answer = open(options).answerPreflight(PREFLIGHT);
  return answer?.isAllowed === true ? answer.headers : [];
};

describe('createCors', () => {
  it('allows credentials, and two hours for preflight answers, by default', () => {
    expect(valueOf(open().headersFor(PREFLIGHT), 'access-control-allow-credentials')).toBe('true');
    expect(valueOf(preflight(), 'access-control-max-age')).toBe('7200');
  });

  it('has no Access-Control-Allow-Credentials without credentials, and the other headers as before', () => {
    const headers = open({ allowsCredentials: false }).headersFor(PREFLIGHT);
    expect(headers).not.toContain('access-control-allow-credentials');
    expect(valueOf(headers, 'access-control-allow-origin')).toBe(PAGE);
    expect(valueOf(headers, 'access-control-expose-headers')).toContain('Retry-After');
  });

  it.each([0, 600, 86_400])('lets browsers keep preflight answers for %i s', (maxAgeSeconds) => {
    expect(valueOf(preflight({ maxAgeSeconds }), 'access-control-max-age')).toBe(String(maxAgeSeconds));
  });

  it('refuses the preflight request of an origin that is not listed', () => {
    const headers = { ...PREFLIGHT.headers, origin: 'https://evil.example' };
    expect(open().answerPreflight({ ...PREFLIGHT, headers })).toEqual({ isAllowed: false });
  });
});
