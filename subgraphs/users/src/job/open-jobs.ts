/** Puts together what the jobs of this process need: mails, password resets and their pages. */
import { createJobControl } from '@trestle/chassis/jobs/job-control';
import type { SubgraphJobs } from '@trestle/chassis/jobs/job-work';
import { startJobWorker } from '@trestle/chassis/jobs/worker';
import type { Endpoint, Subgraph } from '@trestle/chassis/server/subgraph';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import type { Log } from '@trestle/log';
import type { UsersContext } from '../context.ts';
import type { Attempts } from '../login/attempts.ts';
import { MAILBOX_PATH, createMailbox } from '../mail/mailbox.ts';
import { createSmtpMailer } from '../mail/mailer.ts';
import { createSendMail } from '../mail/send-mail.ts';
import { createResetPages } from '../password-reset/handler.ts';
import { RESET_PATH, createPasswordResets } from '../password-reset/password-resets.ts';
import type { Transact, UsersStores } from '../stores.ts';
import type { Passwords } from '../user/passwords.ts';
import { createRemoteJobs } from './remote-jobs.ts';

/** What jobs are opened with. */
export interface OpenJobsOptions {
  readonly stores: UsersStores;
  readonly transact: Transact;
  readonly passwords: Passwords;
  readonly attempts: Attempts;
  readonly revoke: (revocation: Revocation) => Promise<void>;
  readonly secret: string;
  /** The public origin of the bridge. */
  readonly origin: string | undefined;
  readonly contentUrl: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  readonly log: Log;
}

/** The jobs of this process. */
export interface UserJobs {
  readonly dependencies: Pick<UsersContext, 'passwordResets' | 'jobControl' | 'remoteJobs'>;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly start: NonNullable<Subgraph<UsersContext>['startJobs']>;
  readonly sweep: () => Promise<void>;
}

/** Opens them. Without a mail server, mails are kept in memory and shown to this machine alone. */
export function openJobs({ smtpUrl, mailFrom, contentUrl, attempts, log, ...options }: OpenJobsOptions): UserJobs {
  const { stores, transact, origin } = options;
  const forgiveLogins = (loginName: string) => attempts.forgive('login', loginName);
  const passwordResets = createPasswordResets({ ...options, forgiveLogins });
  const mailbox = smtpUrl === undefined ? createMailbox() : undefined;
  const from = mailFrom ?? `Trestle <no-reply@${origin === undefined ? 'localhost' : new URL(origin).hostname}>`;
  const mailer = mailbox ?? createSmtpMailer({ url: smtpUrl ?? '', from });
  if (mailbox) log.info('SMTP_URL is not set: mails are not sent, but shown to this machine at /mailbox');
  const jobs: SubgraphJobs<UsersStores> = {
    works: { RESET_PASSWORD: passwordResets.work, SEND_MAIL: createSendMail({ mailer, templates: passwordResets.templates }) },
    transact,
    stores,
  };
  return {
    dependencies: { passwordResets, jobControl: createJobControl(jobs), remoteJobs: createRemoteJobs(contentUrl) },
    endpoints: {
      ...(mailbox && { [MAILBOX_PATH]: mailbox.handle }),
      ...(origin !== undefined && { [RESET_PATH]: createResetPages({ stores, passwordResets, log }) }),
    },
    start: (worker) => startJobWorker({ ...worker, jobs }),
    sweep: async () => {
      await Promise.all([stores.jobs.sweep(), stores.passwordResets.sweep()]);
    },
  };
}
