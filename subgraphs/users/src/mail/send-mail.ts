/** The job that sends a mail. What it is about stands in the job; address and link are found when it is sent. */
import type { Attempt } from '@trestle/chassis/jobs/job-store';
import type { JobWork } from '@trestle/chassis/jobs/job-work';
import type { UsersStores } from '../stores.ts';
import type { Mail, Mailer } from './mailer.ts';

/** Writes the mail of a job; undefined when there is nobody to send it to. */
export type WriteMail = (job: Attempt) => Promise<Mail | undefined>;

/** What mails are sent with. */
export interface SendMailOptions {
  readonly mailer: Mailer;
  /** By the name of the template in the input of a job. */
  readonly templates: Readonly<Record<string, WriteMail>>;
}

/**
 * Creates the work. SMTP has no transactions: a process that is killed after the server's reply and before the job has succeeded leaves a job
 * that sends the same mail again, with the same `Message-ID` and link. Any other end of a process sends the mail once.
 */
export function createSendMail({ mailer, templates }: SendMailOptions): JobWork<UsersStores> {
  return {
    async run(job) {
      const mail = await templates[String(job.input['template'])]?.(job);
      if (mail) await mailer.send(mail);
      return { result: null };
    },
  };
}
