/**
 * The secrets that deliveries are signed with (Standard Webhooks). They are encrypted for the database and not hashed, since every delivery needs
 * the secret itself; a copy of the database without the key file is no help to forge one. No I/O.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Standard Webhooks demands 24 to 64. */
const SECRET_BYTES = 32;
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const MIN_KEY_CHARACTERS = 32;

/** Creates and encrypts secrets. */
export interface WebhookSecrets {
  /** Returns a new secret as its receiver configures it, and the same encrypted for the row of its webhook. */
  create(webhookId: string): { readonly secret: string; readonly encrypted: Buffer };
  /** Returns the bytes of a secret. Throws when none of the keys has encrypted it for this webhook. */
  decrypt(encrypted: Uint8Array, webhookId: string): Buffer;
}

/** Parses the key file: one key a line. The first encrypts; the others still decrypt what they have encrypted. Throws an Error. */
export function parseWebhookKeys(content: string): readonly string[] {
  const keys = content.split('\n').map((line) => line.trim());
  const given = keys.filter((key) => key !== '');
  if (given.length === 0 || given.some((key) => key.length < MIN_KEY_CHARACTERS))
    throw new Error(`must name a file with keys of at least ${String(MIN_KEY_CHARACTERS)} characters, one a line`);
  return given;
}

/** Creates it from the lines of the key file. */
export function createWebhookSecrets(lines: readonly string[]): WebhookSecrets {
  const keys = lines.map((line) => createHash('sha256').update(`trestle webhook secrets\n${line}`).digest());
  const [current] = keys;
  if (!current) throw new Error('There is no key');
  return {
    create(webhookId) {
      const bytes = randomBytes(SECRET_BYTES);
      return { secret: `${PREFIX}${bytes.toString('base64')}`, encrypted: encrypt(bytes, webhookId, current) };
    },
    decrypt(encrypted, webhookId) {
      for (const key of keys) {
        const bytes = tryDecrypt(Buffer.from(encrypted), webhookId, key);
        if (bytes) return bytes;
      }
      throw new Error(`No key of WEBHOOK_KEY_FILE has encrypted the secret of ${webhookId}`);
    },
  };
}

/** A message to sign (Standard Webhooks, "Signature scheme"). */
export interface SignedMessage {
  readonly id: string;
  /** Unix time in seconds, of the attempt. */
  readonly timestamp: number;
  readonly body: string;
}

/** Returns the value of `webhook-signature`: one signature for each secret, separated by spaces. */
export function sign(secrets: readonly Buffer[], { id, timestamp, body }: SignedMessage): string {
  const content = `${id}.${String(timestamp)}.${body}`;
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`).join(' ');
}

/** The webhook is part of what is authenticated, so that a row is worth nothing for another one. */
function encrypt(bytes: Buffer, webhookId: string, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(webhookId));
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

function tryDecrypt(bytes: Buffer, webhookId: string, key: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(webhookId)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
