import { describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { createTotp, isTotpCode } from './totp.ts';

const NOW = 1_800_000_000_000;
const totp = createTotp({ secret: 's'.repeat(32), now: () => NOW });
const { secret, encrypted } = totp.create({ id: 'usr_1', email: 'ada@example.org' });
const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: NOW });
const stepOf = (given: string) => (isTotpCode(given) ? totp.findStep(given, { userId: 'usr_1', secret: encrypted }) : null);

describe('the code of an authenticator app', () => {
  it('is accepted as apps show it, in two halves, and with spaces around it', () => {
    const given = [code, `${code.slice(0, 3)} ${code.slice(3)}`, ` ${code}\n`];
    expect(given.map(stepOf)).toEqual(given.map(() => NOW / 30_000));
  });

  it.each(['', '12345', '1234567', `${code.slice(0, 2)} ${code.slice(2)}`, `-${code}`, 'k7m2p-x9q4r', '١٢٣٤٥٦'])(
    'has another form: %j',
    (given) => {
      expect(isTotpCode(given)).toBe(false);
    },
  );
});
