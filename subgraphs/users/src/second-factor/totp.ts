/** Codes of authenticator apps (TOTP, RFC 6238): six digits for each 30 seconds, and their secrets, encrypted for the database. No I/O. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const PERIOD_SECONDS = 30;
/** Codes of one step before and after are accepted: clocks differ, and people are slow. */
const WINDOW = 1;
/** RFC 4226 §4 recommends 160 bits. */
const SECRET_BYTES = 20;
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
/** Apps show it in two halves, and people copy it so. */
const CODE = /^\s*\d{3}\s?\d{3}\s*$/;

/** A new secret, and the address with which an app reads it, as text or from a QR code. */
export interface TotpEnrolment {
  /** In base 32. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
}

/** Makes secrets, and checks codes. */
export interface Totp {
  /** Returns a new secret of an account, and the same encrypted for its row. */
  create(account: { readonly id: string; readonly email: string }): TotpEnrolment & { readonly encrypted: Buffer };
  /** Returns the time step of a code, or null when it is wrong. Throws when the secret was encrypted with another key. */
  findStep(code: string, row: { readonly userId: string; readonly secret: Buffer }): number | null;
}

/** What it works with. */
export interface TotpOptions {
  /** The secret of this deployment that the key is derived from. */
  readonly secret: string;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
}

/** Returns whether a string has the form of a code, with or without spaces. */
export function isTotpCode(code: string): boolean {
  return CODE.test(code);
}

/** Creates it. */
export function createTotp({ secret, now }: TotpOptions): Totp {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'trestle totp secrets', 32));
  return {
    create({ id, email }) {
      const bytes = randomBytes(SECRET_BYTES);
      const totp = new TOTP({ issuer: 'Trestle', label: email, secret: toSecret(bytes), period: PERIOD_SECONDS });
      return { secret: totp.secret.base32, uri: totp.toString(), encrypted: encrypt(bytes, id, key) };
    },
    findStep(code, { userId, secret: encrypted }) {
      if (!isTotpCode(code)) return null;
      const totp = new TOTP({ secret: toSecret(decrypt(encrypted, userId, key)), period: PERIOD_SECONDS });
      const delta = totp.validate({ token: code.replace(/\s/g, ''), window: WINDOW, timestamp: now() });
      return delta === null ? null : totp.counter({ timestamp: now() }) + delta;
    },
  };
}

function toSecret(bytes: Buffer): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}

/** The account is part of what is authenticated, so that a row is worth nothing for another account. */
function encrypt(bytes: Buffer, userId: string, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(userId));
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

function decrypt(row: Uint8Array, userId: string, key: Buffer): Buffer {
  const bytes = Buffer.from(row);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(userId)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
