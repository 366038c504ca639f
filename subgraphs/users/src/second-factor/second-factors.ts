/** Checks second factors, and the logins that need them (ADR 21). */
import type { Scope } from '@trestle/identity/scopes';
import type { TokenGrant } from '@trestle/identity/tokens/tokens';
import { type SecondFactorDemand, fail, rejectFaults } from '@trestle/schema/errors';
import type { Attempts } from '../login/attempts.ts';
import { changedDuringLogin } from '../login/authenticate.ts';
import type { SessionClient } from '../session/store.ts';
import type { Transact, UsersStores } from '../stores.ts';
import type { User } from '../user/rules.ts';
import { CHALLENGE_SECONDS } from './challenges.ts';
import type { Passkeys } from './passkeys.ts';
import type { RecoveryCodes } from './recovery-codes.ts';
import type { SecondFactorStatus } from './store.ts';
import { type Totp, isTotpCode } from './totp.ts';

/** What completes a login. */
export interface LoginProof {
  readonly challenge: string;
  /** A code of the authenticator app, or a recovery code. */
  readonly code?: string | null | undefined;
  /** In place of a code: what the browser has returned for a passkey. */
  readonly passkey?: unknown;
}

/** Checks second factors. */
export interface SecondFactors {
  /** Throws UNAUTHORIZED with a challenge when the account has a second factor: its password alone is not enough. */
  demand(user: User): Promise<void>;
  /**
   * Resolves with the account of a login that is completed. Rejects with UNAUTHORIZED when the challenge is not valid or the code is wrong
   * or was used before; the challenge stays valid then. Rejects with UNAUTHORIZED also when the account was changed meanwhile. Rejects with VALIDATION_ERROR unless there is a code or a passkey, and with
   * RATE_LIMIT_EXCEEDED after too many failures.
   */
  complete(proof: LoginProof, client: SessionClient): Promise<User>;
  /**
   * Returns what a token of the account says. An administrator without the second factor that REQUIRE_ADMIN_SECOND_FACTOR demands gets the
   * role USER and the scope `account:manage`: enough to add one.
   */
  restrict<Account extends Pick<User, 'id' | 'role'>>(account: Account): Promise<Account & Pick<TokenGrant, 'scopes'>>;
}

/** What second factors are checked with. */
export interface SecondFactorOptions {
  readonly stores: Pick<UsersStores, 'users' | 'secondFactors' | 'challenges' | 'passkeys'>;
  readonly transact: Transact;
  readonly attempts: Attempts;
  readonly totp: Totp;
  readonly recoveryCodes: RecoveryCodes;
  readonly passkeys: Passkeys | undefined;
  readonly isRequiredForAdmins: boolean;
}

const ENROLMENT: ReadonlySet<Scope> = new Set<Scope>(['account:manage']);

/** Creates the checks. */
export function createSecondFactors(options: SecondFactorOptions): SecondFactors {
  const { stores, attempts, isRequiredForAdmins } = options;
  return {
    async restrict(account) {
      if (!isRequiredForAdmins || account.role !== 'ADMIN') return account;
      return hasSecondFactor(await stores.secondFactors.status(account.id)) ? account : { ...account, role: 'USER', scopes: ENROLMENT };
    },
    async demand(user) {
      const { id } = user;
      const status = await stores.secondFactors.status(id);
      if (!hasSecondFactor(status)) return;
      const challenge = await stores.challenges.begin(user, 'login');
      throw fail('UNAUTHORIZED', 'The account has a second factor. Complete the login with it.', {
        secondFactor: await toDemand(options, { userId: id, challenge, secondsLeft: CHALLENGE_SECONDS }),
      });
    },
    async complete(proof, client) {
      const { challenge } = proof;
      checkProof(proof);
      const begun = await stores.challenges.find(challenge, 'login');
      if (!begun) throw fail('UNAUTHORIZED', 'The challenge is invalid, has expired or was used before. Log in again.');
      const { userId, generation, secondsLeft } = begun;
      const attempt = { ...proof, userId, client };
      const isAccepted = await attempts.run({ kind: 'code', subject: userId, userId, client }, () =>
        proof.passkey == null ? acceptCode(options, attempt) : acceptPasskey(options, attempt),
      );
      const [user] = isAccepted ? await stores.users.findByIds([userId]) : [];
      if (user?.tokenGeneration === generation) return user;
      if (isAccepted) throw changedDuringLogin();
      const message =
        proof.passkey == null ? 'The code is wrong or was used before.' : 'The passkey is not one of the account, or did not sign.';
      throw fail('UNAUTHORIZED', message, { secondFactor: await toDemand(options, { userId, challenge, secondsLeft }) });
    },
  };
}

/** Returns whether an account has a second factor; recovery codes alone are none. */
export function hasSecondFactor({ hasTotp, passkeyCount }: SecondFactorStatus): boolean {
  return hasTotp || passkeyCount > 0;
}

function methodsOf({ hasTotp, passkeyCount, recoveryCodesLeft }: SecondFactorStatus): string[] {
  return [...(hasTotp ? ['totp'] : []), ...(passkeyCount > 0 ? ['passkey'] : []), ...(recoveryCodesLeft > 0 ? ['recovery_code'] : [])];
}

interface BegunLogin {
  readonly userId: string;
  readonly challenge: string;
  readonly secondsLeft: number;
}

async function toDemand(
  { stores, passkeys }: SecondFactorOptions,
  { userId, challenge, secondsLeft }: BegunLogin,
): Promise<SecondFactorDemand> {
  const methods = methodsOf(await stores.secondFactors.status(userId));
  const known = passkeys && methods.includes('passkey') ? await stores.passkeys.list(userId) : [];
  const passkey = known.length > 0 ? await passkeys?.toRequestOptions(challenge, known) : undefined;
  return { challenge, expiresIn: secondsLeft, methods, ...(passkey && { passkey }) };
}

function checkProof({ code, passkey }: LoginProof): void {
  if (code == null && passkey == null) rejectFaults([{ field: 'code', message: 'is required unless `passkey` is sent' }]);
  if (code != null && passkey != null) rejectFaults([{ field: 'passkey', message: 'must not be sent together with `code`' }]);
}

interface CodeAttempt extends LoginProof {
  readonly userId: string;
  readonly client: SessionClient;
}

/** Uses up the code and the challenge together, in one transaction. Resolves with null, and has changed nothing, when either is not valid. */
async function acceptCode({ transact, totp, recoveryCodes }: SecondFactorOptions, attempt: CodeAttempt): Promise<true | null> {
  const { userId, challenge, client } = attempt;
  const code = attempt.code ?? '';
  return transact(async ({ secondFactors, challenges, securityEvents }) => {
    if (isTotpCode(code)) {
      const row = await secondFactors.findTotp(userId);
      const step = row?.confirmedAt ? totp.findStep(code, row) : null;
      if (!row || step === null || !(await secondFactors.useTotp(row, step))) return null;
    } else {
      if (!(await secondFactors.useRecoveryCode(userId, recoveryCodes.hash(userId, code)))) return null;
      await securityEvents.record({ type: 'RECOVERY_CODE_USED', userId, client });
    }
    if (!(await challenges.consume(challenge))) throw usedChallenge();
    return true;
  });
}

/** As {@link acceptCode}, with a signature of the challenge. */
async function acceptPasskey(
  { stores, transact, passkeys }: SecondFactorOptions,
  { userId, challenge, passkey }: CodeAttempt,
): Promise<true | null> {
  const known = (await stores.passkeys.list(userId)).find(({ credentialId }) => credentialId === (passkey as { id?: unknown }).id);
  const counter = known ? await passkeys?.verifyRequest(challenge, passkey, known) : null;
  if (!known || counter == null) return null;
  return transact(async (inTransaction) => {
    if (!(await inTransaction.passkeys.use(known.id, counter))) return null;
    if (!(await inTransaction.challenges.consume(challenge))) throw usedChallenge();
    return true;
  });
}

function usedChallenge(): Error {
  return fail('UNAUTHORIZED', 'The challenge was used by another request. Log in again.');
}
