import { describe, expect, it } from '@jest/globals';
import { createPasswords } from './passwords.ts';

describe('passwords', () => {
  it('match the hash of the same password only', async () => {
    const passwords = createPasswords();
    const hashed = await passwords.hash('ada-Passw0rd!');
    expect(await passwords.matches('ada-Passw0rd!', hashed)).toBe(true);
    expect(await passwords.matches('ada-Passw0rd', hashed)).toBe(false);
    expect(await passwords.matches('ada-Passw0rd!', null)).toBe(false);
  });

  // RFC 9110 §15.6.4: 503 when a server cannot handle the request because of overload.
  it('are refused with SERVICE_UNAVAILABLE and retryAfterSeconds when 120 wait, and accepted again afterwards', async () => {
    const passwords = createPasswords(2);
    const hashed = await passwords.hash('ada-Passw0rd!');
    const results = await Promise.allSettled(Array.from({ length: 140 }, () => passwords.matches('x', hashed)));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(18);
    expect(refused[0]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 } });
    expect(await passwords.matches('ada-Passw0rd!', hashed)).toBe(true);
  });
});
