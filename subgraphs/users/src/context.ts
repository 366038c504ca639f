/** What the resolvers of the users subgraph work with. */
import type { RequestContext } from '@trestle/chassis/request/context';
import { type StoreContext, createStoreContext } from '@trestle/chassis/stores/context';
import type { Idempotency, MutationCall } from '@trestle/chassis/stores/idempotency';
import type { JobControl } from '@trestle/chassis/jobs/job-control';
import type { Clock } from '@trestle/chassis/values/clock';
import type { CreateId } from '@trestle/chassis/values/ids';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import type { TokenIssuer } from '@trestle/identity/tokens/tokens';
import { type UsersLoaders, createUsersLoaders } from './loaders.ts';
import type { RemoteJobs } from './job/remote-jobs.ts';
import type { Attempts } from './login/attempts.ts';
import type { Authenticate } from './login/authenticate.ts';
import type { ConfirmPassword } from './login/confirm-password.ts';
import type { PasswordResets } from './password-reset/password-resets.ts';
import type { Passkeys } from './second-factor/passkeys.ts';
import type { RecoveryCodes } from './second-factor/recovery-codes.ts';
import type { SecondFactors } from './second-factor/second-factors.ts';
import type { Totp } from './second-factor/totp.ts';
import type { RefreshCookie } from './session/refresh-cookie.ts';
import type { Transact, UsersStores } from './stores.ts';
import type { Passwords } from './user/passwords.ts';
import type { Webhooks } from './webhook/webhooks.ts';

export interface UsersDependencies {
  readonly passwords: Passwords;
  readonly authenticate: Authenticate;
  readonly confirmPassword: ConfirmPassword;
  readonly attempts: Attempts;
  readonly secondFactors: SecondFactors;
  readonly totp: Totp;
  readonly recoveryCodes: RecoveryCodes;
  /** Undefined without a public origin. */
  readonly passkeys: Passkeys | undefined;
  readonly passwordResets: PasswordResets;
  readonly jobControl: JobControl<UsersStores>;
  /** The jobs of the content subgraph. */
  readonly remoteJobs: RemoteJobs;
  readonly tokens: TokenIssuer;
  readonly createId: CreateId;
  readonly clock: Clock;
  /** The secret that API keys are hashed with. */
  readonly apiKeySecret: string;
  readonly refreshCookie: RefreshCookie;
  readonly webhooks: Webhooks;
  /** Runs several writes in one transaction. */
  readonly transact: Transact;
  /**
   * Publishes a revocation that was stored already. Resolves when the processes that are subscribed apply it; others get it from the
   * table of events.
   */
  readonly revoke: (revocation: Revocation) => Promise<void>;
}

export type UsersContext = StoreContext<UsersStores, UsersLoaders> & UsersDependencies;

export function createUsersContext(
  request: RequestContext,
  idempotency: Idempotency<UsersStores>,
  dependencies: UsersDependencies,
): UsersContext {
  return Object.assign(createStoreContext(request, { idempotency, createLoaders: createUsersLoaders }), dependencies);
}

/** Runs several writes in one transaction; with an Idempotency-Key, once. */
export function writeTogether<Row>(
  { idempotency, transact, write }: UsersContext,
  call: MutationCall,
  work: (stores: UsersStores) => Promise<Row>,
): Promise<Row> {
  return idempotency ? write(call, work) : transact(work);
}

/** As `writeTogether`, for writes that make a secret. A repetition throws CONFLICT: the secret is not stored, so that it cannot be returned again. */
export function writeWithSecret<Row>(context: UsersContext, call: MutationCall, work: (stores: UsersStores) => Promise<Row>): Promise<Row> {
  return writeTogether(context, { ...call, hasSecret: true }, work);
}
