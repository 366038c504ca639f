/** Password resets: a request becomes a job, the job mails a link, and the link sets a new password once. */
import { createHash } from 'node:crypto';
import type { Attempt } from '@trestle/chassis/jobs/job-store';
import type { JobWork } from '@trestle/chassis/jobs/job-work';
import type { Job } from '@trestle/chassis/jobs/job';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import { fail, rejectFaults } from '@trestle/schema/errors';
import type { WriteMail } from '../mail/send-mail.ts';
import type { ClientDescription } from '../security/security-events.ts';
import type { SessionClient } from '../session/store.ts';
import type { Transact, UsersStores } from '../stores.ts';
import { findPasswordFaults } from '../user/password-rules.ts';
import type { Passwords } from '../user/passwords.ts';
import type { User } from '../user/rules.ts';
import { createResetLimits } from './limits.ts';
import { type ResetSubject, toSubjectName } from './rules.ts';
import { LINK_MINUTES, createResetTokens, hashResetToken } from './token.ts';

/** The path of the page that a link leads to. */
export const RESET_PATH = '/password-reset';
const TEMPLATE = 'passwordReset';

/** A request for a link. */
export interface ResetRequest {
  readonly subject: ResetSubject;
  readonly client: SessionClient;
  /** The caller; null when it is anonymous. */
  readonly ownerId: string | null;
}

/** A new password, by a link. */
export interface NewPasswordByLink {
  readonly token: string;
  readonly password: string;
  readonly client: SessionClient;
}

/** Resets passwords. */
export interface PasswordResets {
  /** Enqueues the job. It does not look the account up, so that time and result are the same for all. Throws RATE_LIMIT_EXCEEDED. */
  request(stores: UsersStores, request: ResetRequest): Promise<Job>;
  /**
   * Sets the password. Triggers revoke the tokens of the account, and end its sessions, OAuth grants and other links, in the same transaction.
   * Throws VALIDATION_ERROR for a link that is not valid, or a password that is not allowed, which leaves the link valid.
   */
  confirm(change: NewPasswordByLink): Promise<void>;
  /** The work of the jobs RESET_PASSWORD. */
  readonly work: JobWork<UsersStores>;
  /** Writes the mails with links, by the name of their template. */
  readonly templates: Readonly<Record<string, WriteMail>>;
}

/** What passwords are reset with. */
export interface PasswordResetsOptions {
  readonly stores: UsersStores;
  readonly transact: Transact;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly revoke: (revocation: Revocation) => Promise<void>;
  /** Forgets failed logins with an address, in the case in which they are counted: its owner has proved to be the owner. */
  readonly forgiveLogins: (loginName: string) => Promise<void>;
  /** The secret of this deployment that tokens and counters are derived from. */
  readonly secret: string;
  /** The public origin of the bridge, which links lead to; undefined for a system without one. */
  readonly origin: string | undefined;
}

/** Creates it. */
export function createPasswordResets(options: PasswordResetsOptions): PasswordResets {
  const limits = createResetLimits(options.secret);
  return {
    async request(stores, { subject, client, ownerId }) {
      if (options.origin === undefined) throw fail('SERVICE_UNAVAILABLE', 'Password resets need the setting OAUTH_ISSUER.');
      await limits.count(stores, { subject: toSubjectName(subject), client });
      const { device, address } = client;
      return stores.jobs.enqueue({ kind: 'RESET_PASSWORD', input: { subject, client: { device, address } }, ownerId });
    },
    confirm: (change) => confirm(options, change),
    work: {
      async run({ id, input }) {
        const subject = input['subject'] as ResetSubject;
        const account = await findAccount(options.stores, subject);
        return {
          result: null,
          write: (stores) => enqueueMail(stores, { id, subject, account, client: input['client'] as ClientDescription }),
        };
      },
    },
    templates: { [TEMPLATE]: createTemplate(options) },
  };

  /** Writes the same for all subjects: a mail to nobody is not sent. */
  async function enqueueMail(
    stores: UsersStores,
    { id, subject, account, client }: { id: string; subject: ResetSubject; account: User | undefined; client: ClientDescription },
  ): Promise<void> {
    const mayMail = await limits.mayMail(stores, account?.id ?? toSubjectName(subject));
    await stores.securityEvents.record({ type: 'PASSWORD_RESET_REQUESTED', userId: account?.id, subject: id, client });
    await stores.jobs.enqueue({
      kind: 'SEND_MAIL',
      input: { template: TEMPLATE, userId: mayMail ? account?.id : undefined },
      ownerId: null,
    });
  }
}

/** Returns the active account; undefined also for one that does not log in with a password. */
async function findAccount({ users }: UsersStores, subject: ResetSubject): Promise<User | undefined> {
  const [account] = 'id' in subject ? await users.findByIds([subject.id]) : [await users.findByEmail(subject.email)];
  // Read in any case, so that unknown accounts take as long.
  const hash = await users.findPasswordHash(account?.id ?? '');
  return account?.isActive && hash !== null ? account : undefined;
}

function createTemplate({ stores, secret, origin }: PasswordResetsOptions): WriteMail {
  const toToken = createResetTokens(secret);
  return async ({ id, input }: Attempt) => {
    const [account] = typeof input['userId'] === 'string' ? await stores.users.findByIds([input['userId']]) : [];
    const token = toToken(id);
    const tokenHash = hashResetToken(token) as Buffer;
    if (!account?.isActive) return undefined;
    const link = { tokenHash, userId: account.id, generation: account.tokenGeneration, jobId: id };
    if (!(await stores.passwordResets.add(link))) return undefined;
    return {
      to: account.email,
      subject: 'Set a new password',
      text: [
        // Without the name: anybody can register the address of another person, with a name that reads as a message from us.
        `A new password was requested for the account with this e-mail address at ${new URL(origin ?? '').host}.`,
        `Open this link within ${String(LINK_MINUTES)} minutes to set one. It works once.`,
        `${origin ?? ''}${RESET_PATH}?token=${token}`,
        'If you did not request it, ignore this mail: your password stays as it is.',
      ].join('\n\n'),
      messageId: createHash('sha256').update(id).digest('hex').slice(0, 32),
    };
  };
}

async function confirm(
  { stores, transact, passwords, revoke, forgiveLogins }: PasswordResetsOptions,
  { token, password, client }: NewPasswordByLink,
): Promise<void> {
  const tokenHash = hashResetToken(token);
  const link = tokenHash && (await stores.passwordResets.find(tokenHash));
  if (!tokenHash || !link) throw invalidLink();
  const { userId, email, loginName, jobId } = link;
  rejectFaults(findPasswordFaults({ field: 'password', password, email }));
  const to = await passwords.hash(password);
  const generation = await transact(async ({ users, passwordResets, securityEvents }) => {
    await passwordResets.lockAccount(userId);
    const account = (await passwordResets.use(tokenHash)) ? await users.resetPassword(userId, to) : undefined;
    if (!account) throw invalidLink();
    await securityEvents.record({ type: 'PASSWORD_RESET', userId, subject: jobId, client });
    return account.tokenGeneration;
  });
  await revoke({ userId, generation });
  await forgiveLogins(loginName);
}

/** The same for a token that never existed, has expired or was used. */
function invalidLink(): Error {
  return fail('VALIDATION_ERROR', 'The link is not valid.', {
    details: [{ field: 'token', message: 'is not valid, has expired or was used before' }],
  });
}
