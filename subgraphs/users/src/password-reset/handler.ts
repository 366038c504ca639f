/** Serves the pages of password resets. The bridge passes their requests on. A visit of a link changes nothing: mail programs visit links too. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@trestle/log';
import { ERRORS, Fault } from '@trestle/schema/errors';
import { passedClientOf } from '@trestle/service/clients/client-id';
import { type PageResponse, sendPage } from '../oauth/page-response.ts';
import { FormError, readForm } from '../oauth/requests.ts';
import { toSessionClient } from '../session/client.ts';
import type { SessionClient } from '../session/store.ts';
import type { UsersStores } from '../stores.ts';
import { changedPage, failedPage, invalidLinkPage, newPasswordPage, requestPage, requestedPage } from './pages.ts';
import type { PasswordResets } from './password-resets.ts';
import { parseResetSubject } from './rules.ts';
import { hashResetToken } from './token.ts';

/** What the pages work with. */
export interface ResetPagesOptions {
  readonly stores: UsersStores;
  readonly passwordResets: Pick<PasswordResets, 'request' | 'confirm'>;
  readonly log: Log;
}

/** Creates the handler of the path `/password-reset`. */
export function createResetPages(options: ResetPagesOptions): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    respond(options, request)
      .catch((error: unknown) => toFailure(options, error))
      .then(({ headers, ...reply }) => {
        // The address has the token.
        sendPage(response, { ...reply, headers: { ...headers, 'referrer-policy': 'no-referrer' } });
      })
      .catch(() => response.destroy());
  };
}

async function respond({ stores, passwordResets }: ResetPagesOptions, request: IncomingMessage): Promise<PageResponse> {
  const { method = 'GET', url = '' } = request;
  if (method === 'GET' || method === 'HEAD') return showPage(stores, new URLSearchParams(url.split('?')[1]).get('token'));
  if (method !== 'POST') return { status: 405, html: failedPage('Use the form of this page.'), headers: { allow: 'GET, HEAD, POST' } };
  const form = await readForm(request);
  const client = toSessionClient({ http: { userAgent: request.headers['user-agent'], client: passedClientOf(request) } });
  const token = form.get('token');
  if (token === null) return requestLink({ stores, passwordResets }, form.get('email') ?? '', client);
  return setPassword(passwordResets, { token, password: form.get('password') ?? '', client });
}

async function showPage(stores: UsersStores, token: string | null): Promise<PageResponse> {
  if (token === null) return { html: requestPage({}) };
  const hash = hashResetToken(token);
  if (!hash || !(await stores.passwordResets.find(hash))) return { status: 400, html: invalidLinkPage() };
  return { html: newPasswordPage({ token }) };
}

async function requestLink(
  { stores, passwordResets }: Pick<ResetPagesOptions, 'stores' | 'passwordResets'>,
  email: string,
  client: SessionClient,
): Promise<PageResponse> {
  try {
    await passwordResets.request(stores, { subject: parseResetSubject({ email: email.trim().slice(0, 254) }), client, ownerId: null });
    return { status: 202, html: requestedPage() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'VALIDATION_ERROR') throw error;
    return { status: 400, html: requestPage({ email, fault: 'Enter an e-mail address.' }) };
  }
}

async function setPassword(
  passwordResets: Pick<PasswordResets, 'confirm'>,
  change: Parameters<PasswordResets['confirm']>[0],
): Promise<PageResponse> {
  try {
    await passwordResets.confirm(change);
    return { html: changedPage() };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'VALIDATION_ERROR') throw error;
    const [fault] = error.details ?? [];
    if (fault?.field !== 'password') return { status: 400, html: invalidLinkPage() };
    return { status: 400, html: newPasswordPage({ token: change.token, fault: `The password ${fault.message}.` }) };
  }
}

function toFailure({ log }: ResetPagesOptions, error: unknown): PageResponse {
  if (error instanceof FormError) return { status: error.status, html: failedPage(error.message) };
  if (error instanceof Fault) {
    const { retryAfterSeconds } = error;
    const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return { status: ERRORS[error.code].status, html: failedPage(error.message), headers };
  }
  log.error('a page of password resets failed', { error });
  return { status: 500, html: failedPage('Something went wrong on our side. Try again later.') };
}
