import { describe, expect, it } from '@jest/globals';
import { type ConfigurationOptions, createConfiguration } from './configuration.ts';

const namesAt = (issuer: string) => {
  const options = { issuer, keys: { keys: [] }, cookieKeys: ['k'] } as unknown as ConfigurationOptions;
  const { cookies } = createConfiguration(options);
  return { names: cookies?.names, isSecure: [cookies?.long?.secure, cookies?.short?.secure], sameSite: cookies?.long?.sameSite };
};

describe('the cookies of the authorization server', () => {
  it('cannot be set by another host of the domain when the issuer uses HTTPS (RFC 6265bis §4.1.3)', () => {
    expect(namesAt('https://api.example.com')).toEqual({
      names: {
        session: '__Host-trestle-oauth-session',
        // `__Host-` demands the path `/`: these two are sent to the paths of one authorization only.
        interaction: '__Secure-trestle-oauth-interaction',
        resume: '__Secure-trestle-oauth-resume',
      },
      isSecure: [true, true],
      sameSite: 'lax',
    });
  });

  it('have names without prefixes on loopback, where browsers refuse the prefixes', () => {
    const { names, isSecure } = namesAt('http://127.0.0.1:3000');
    expect(Object.values(names ?? {})).toEqual(['trestle-oauth-session', 'trestle-oauth-interaction', 'trestle-oauth-resume']);
    expect(isSecure).toEqual([false, false]);
  });
});
