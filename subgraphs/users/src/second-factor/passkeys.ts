/** Passkeys (WebAuthn Level 3) as a second factor: what browsers are asked for, and the check of what they return. No I/O. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { User } from '../user/rules.ts';
import { CHALLENGE_SECONDS } from './challenges.ts';

/** A passkey that an account has. */
export interface PasskeyRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  /** How many signatures the authenticator has counted; 0 when it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** A passkey that was verified and can be stored. */
export type NewPasskey = Pick<PasskeyRow, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** Works with the browsers at one origin. */
export interface Passkeys {
  /** Returns the argument of `navigator.credentials.create()`, as JSON. */
  toCreationOptions(user: User, challenge: string, known: readonly PasskeyRow[]): Promise<object>;
  /** Returns the passkey in the response of a browser, or null when it is not valid for the challenge. */
  verifyCreation(challenge: string, response: unknown): Promise<NewPasskey | null>;
  /** Returns the argument of `navigator.credentials.get()`, as JSON. */
  toRequestOptions(challenge: string, known: readonly PasskeyRow[]): Promise<object>;
  /** Returns the new counter of a passkey that has signed the challenge, or null when the response is not valid. */
  verifyRequest(challenge: string, response: unknown, passkey: PasskeyRow): Promise<number | null>;
}

/** A browser sends about 1 KiB. */
const MAX_RESPONSE_CHARACTERS = 16_384;
const TIMEOUT_MS = CHALLENGE_SECONDS * 1000;

/** Creates it for the public origin of the system, whose host is the RP id. The library is loaded when it is first needed. */
export function createPasskeys(origin: string): Passkeys {
  const rpID = new URL(origin).hostname;
  const expected = (challenge: string) => ({ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: rpID });
  // The password has been checked: possession is enough, so that security keys without a PIN can be used.
  const requireUserVerification = false;
  const toDescriptors = (known: readonly PasskeyRow[]) =>
    known.map(({ credentialId, transports }) => ({ id: credentialId, transports: [...transports] as never[] }));
  return {
    async toCreationOptions({ id, email, name }, challenge, known) {
      const { generateRegistrationOptions } = await import('@simplewebauthn/server');
      return generateRegistrationOptions({
        ...{ rpName: 'Trestle', rpID, userID: toBytes(Buffer.from(id)), userName: email, userDisplayName: name },
        ...{ challenge: toBytes(Buffer.from(challenge, 'base64url')), timeout: TIMEOUT_MS, attestationType: 'none' as const },
        excludeCredentials: toDescriptors(known),
        authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
      });
    },
    async verifyCreation(challenge, response) {
      if (!isBrowserResponse(response)) return null;
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      const options = { ...expected(challenge), response: response as RegistrationResponseJSON, requireUserVerification };
      // It throws for every response that is not valid.
      const { registrationInfo } = await verifyRegistrationResponse(options).catch(() => ({ registrationInfo: undefined }));
      if (!registrationInfo) return null;
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      return { credentialId: id, publicKey, counter, transports: transports.filter(isTransport) };
    },
    async toRequestOptions(challenge, known) {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      return generateAuthenticationOptions({
        ...{ rpID, challenge: toBytes(Buffer.from(challenge, 'base64url')), timeout: TIMEOUT_MS, userVerification: 'preferred' as const },
        allowCredentials: toDescriptors(known),
      });
    },
    async verifyRequest(challenge, response, { credentialId, publicKey, counter }) {
      if (!isBrowserResponse(response) || response.id !== credentialId) return null;
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
      const credential = { id: credentialId, publicKey: toBytes(publicKey), counter };
      const options = { ...expected(challenge), response: response as AuthenticationResponseJSON, credential, requireUserVerification };
      const { verified, authenticationInfo } = await verifyAuthenticationResponse(options).catch(() => INVALID);
      return verified ? authenticationInfo.newCounter : null;
    },
  };
}

const INVALID = { verified: false, authenticationInfo: { newCounter: 0 } };

/** Returns the challenge that a browser has signed, which is yet to be checked; undefined for anything else. */
export function readChallenge(response: unknown): string | undefined {
  const { clientDataJSON } = ((response as { response?: unknown } | null)?.response ?? {}) as { clientDataJSON?: unknown };
  if (!isBrowserResponse(response) || typeof clientDataJSON !== 'string') return undefined;
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

function isBrowserResponse(value: unknown): value is { readonly id: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { id?: unknown }).id === 'string' &&
    JSON.stringify(value).length <= MAX_RESPONSE_CHARACTERS
  );
}

function isTransport(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{1,20}$/.test(value);
}

/** The library demands bytes of an array of their own. */
function toBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}
