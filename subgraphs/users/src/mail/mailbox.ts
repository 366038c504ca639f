/**
 * A mailbox in place of a mail server, for one machine: keeps the last mails in memory, and shows them on a page to the machine itself. Mails
 * are never written to a disk or a log, since they have links that are secrets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLocalRequest } from '@trestle/service/clients/local-peer';
import { type Html, html, page } from '../oauth/pages/layout.ts';
import { sendPage } from '../oauth/page-response.ts';
import type { Mail, Mailer } from './mailer.ts';

/** The path of the page in the process of the users subgraph. */
export const MAILBOX_PATH = '/mailbox';
const MAX_MAILS = 50;
/** A page of another site that has made its own name point to this machine (DNS rebinding) sends that name. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const URLS = /(https?:\/\/\S+)/;

/** A mailbox. */
export interface Mailbox extends Mailer {
  /** Shows the mails to requests that come from the machine itself; others get 404. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Creates it. It keeps the last 50 mails. */
export function createMailbox(): Mailbox {
  const mails: (Mail & { readonly receivedAt: Date })[] = [];
  return {
    send(mail) {
      // A mail that is sent again replaces the first one, as in mailboxes that know its id.
      const at = mails.findIndex(({ messageId }) => messageId === mail.messageId);
      if (at >= 0) mails.splice(at, 1);
      mails.unshift({ ...mail, receivedAt: new Date() });
      mails.length = Math.min(mails.length, MAX_MAILS);
      return Promise.resolve();
    },
    handle(request, response) {
      const isLocal = isLocalRequest(request) && LOCAL_HOST.test(request.headers.host ?? '');
      if (!isLocal) response.writeHead(404).end();
      else if (request.method !== 'GET' && request.method !== 'HEAD') response.writeHead(405, { allow: 'GET, HEAD' }).end();
      else sendPage(response, { html: mailboxPage(mails), headers: { 'referrer-policy': 'no-referrer' } });
    },
  };
}

function mailboxPage(mails: readonly (Mail & { readonly receivedAt: Date })[]): string {
  const note = 'Mails that this system would send. They are kept in memory until it stops; with SMTP_URL they are sent instead.';
  const list = mails.map(
    ({ to, subject, text, receivedAt }) => html`
      <article>
        <h2>${subject}</h2>
        <p class="note">To ${to}, <time datetime="${receivedAt.toISOString()}">${receivedAt.toUTCString()}</time></p>
        ${text.split('\n\n').map((paragraph) => html`<p>${paragraph.split(URLS).map(toLink)}</p>`)}
      </article>
    `,
  );
  return page(
    'Mailbox',
    html`<p class="note">${note}</p>
      ${list.length > 0 ? list : html`<p>There are no mails yet.</p>`}`,
  );
}

function toLink(part: string): Html {
  return URLS.test(part) ? html`<a href="${part}" rel="noreferrer">${part}</a>` : html`${part}`;
}
