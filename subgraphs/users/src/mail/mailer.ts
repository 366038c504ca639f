/** Sends mails by SMTP (RFC 5321) to the server of `SMTP_URL`. */
import { isIP } from 'node:net';
import type { Fault } from '@trestle/schema/errors';
import { fail } from '@trestle/schema/errors';

/** A mail in plain text to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same for every attempt to send the mail, so that receivers recognize a copy (RFC 5322 §3.6.4). Without `<`, `>` and the host. */
  readonly messageId: string;
}

/** Sends mails. */
export interface Mailer {
  /**
   * Resolves when the server has taken the mail over. Rejects with BUSINESS_RULE_VIOLATION when it refuses the mail for good, and with
   * UPSTREAM_ERROR when a later attempt may succeed.
   */
  send(mail: Mail): Promise<void>;
}

/** Where mails go, and from whom they are. */
export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with a user and a password where the server needs them. */
  readonly url: string;
  /** The address of the sender, such as `Trestle <no-reply@example.com>`. */
  readonly from: string;
}

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000, dnsTimeout: 10_000 };
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/;

/** Creates the mailer. Each mail has a connection of its own. Links are secrets: only a server on the machine itself may do without TLS. */
export function createSmtpMailer({ url, from }: SmtpOptions): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const options = {
    ...TIMEOUTS,
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !LOOPBACK.test(host),
    ...(isIP(host) === 0 && { tls: { servername: host } }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const domain = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
  return {
    async send({ to, subject, text, messageId }) {
      // Loaded with the first mail: a process that sends none starts faster.
      const { createTransport } = await import('nodemailer');
      // An object is one address, whatever characters it has; a string could be a list.
      const mail = { from, to: { name: '', address: to }, subject, text, messageId: `<${messageId}@${domain}>` };
      try {
        await createTransport(options).sendMail(mail);
      } catch (cause) {
        throw toFault(cause);
      }
    },
  };
}

/** 5yz is for good (RFC 5321 §4.2.1), except where it is the sender that the server does not accept. */
function toFault(cause: unknown): Fault {
  const { responseCode, code } = cause as { readonly responseCode?: number; readonly code?: string };
  const isForGood = code !== 'EAUTH' && responseCode !== undefined && responseCode >= 500;
  if (isForGood)
    return fail('BUSINESS_RULE_VIOLATION', `The mail server refused the mail with the code ${String(responseCode)}.`, { cause });
  return fail('UPSTREAM_ERROR', 'The mail server did not accept the mail.', { cause });
}
