import { describe, expect, it } from '@jest/globals';
import { createPasswords } from './passwords.ts';

describe('passwords', () => {
  it('matches the password of a hash and no other', async () => {
    const passwords = createPasswords();
    const hashed = await passwords.hash('ada-Passw0rd!');
    expect(await passwords.matches('ada-Passw0rd!', hashed)).toBe(true);
    expect(await passwords.matches('ada-Passw0rd', hashed)).toBe(false);
    expect(await passwords.matches('ada-Passw0rd!', null)).toBe(false);
  });

  // RFC 9110 §15.6.4: 503 when a server can not handle the request because of overload.
  it('refuses with SERVICE_UNAVAILABLE and a time to come back when 120 wait, and takes passwords again afterwards', async () => {
    const passwords = createPasswords();
    const hashed = await passwords.hash('ada-Passw0rd!');
    const results = await Promise.allSettled(Array.from({ length: 140 }, () => passwords.matches('x', hashed)));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(18);
    expect(refused[0]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 } });
    expect(await passwords.matches('ada-Passw0rd!', hashed)).toBe(true);
  });
});
