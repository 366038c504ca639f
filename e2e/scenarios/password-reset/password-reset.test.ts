/** Password resets (spec §4.2, contract §4): by REST and GraphQL, a mail by a real SMTP server, and the page that its link leads to. */
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import type { Account, Stack } from '../../stack/stack.ts';
import { FormBrowser } from '../oauth/form-browser.ts';
import { type OAuthSystem, startOAuthSystem } from '../oauth/oauth-system.ts';
import { codeOf, logIn, refresh } from '../sessions/browser.ts';
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts';

let mails: MailServer;
let system: OAuthSystem<Stack>;
let stack: Stack;
let admin: Account;

beforeAll(async () => {
  mails = await startMailServer();
  system = await startOAuthSystem({ SMTP_URL: mails.url, JOB_HEARTBEAT_MS: '300' });
  stack = system.stack;
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(async () => {
  await system.stop();
  await mails.stop();
});

const addressOf = (name: string) => `${name.toLowerCase()}@example.org`;
const requestReset = (email: string, token?: string) => stack.call('POST', '/v1/auth/password-reset', { body: { email }, token });
const confirm = (token: string, password: string) => stack.call('POST', '/v1/auth/password-reset/confirm', { body: { token, password } });
const tokenOf = ({ link }: ReceivedMail) => link.searchParams.get('token') ?? '';
const jobOf = (reply: { body: unknown }) => reply.body as { jobId: string; status: string };
const readJob = async (id: string, token?: string) =>
  (await stack.call('GET', `/v1/jobs/${id}`, { token })).body as Record<string, unknown>;
const mailsTo = (email: string) => mails.mails.filter(({ to }) => to === email);

/** Returns the mail number `count` to this address, the first one by default. */
async function mailTo(email: string, count = 1): Promise<ReceivedMail> {
  await until(() => Promise.resolve(mailsTo(email).length >= count));
  return mailsTo(email)[count - 1] as ReceivedMail;
}

describe('POST /v1/auth/password-reset', () => {
  it('answers 202 with a job, mails a link, and the link sets a password once and ends all sessions', async () => {
    await stack.createAccount('Grace');
    const email = addressOf('Grace');
    const session = await logIn(stack.rest, { email, password: 'Grace-passes-1' });
    const reply = await requestReset(email.toUpperCase());
    const { jobId, status } = jobOf(reply);
    expect([reply.status, status]).toEqual([202, 'queued']);
    expect(reply.headers.get('location')).toBe(`/v1/jobs/${jobId}`);
    expect((reply.body as { _links: object })._links).toEqual({ self: { href: `/v1/jobs/${jobId}` } });
    const mail = await mailTo(email);
    expect(mail.link.origin + mail.link.pathname).toBe(`${system.issuer}/password-reset`);
    await until(async () => (await readJob(jobId))['status'] === 'succeeded');
    expect(await readJob(jobId)).toMatchObject({ kind: 'reset_password', progress: 100, result: null, error: null });
    const [{ stored }] = (await stack.sql<{ stored: string }>(
      'users',
      `SELECT string_agg(t::text, '') AS stored FROM password_resets t`,
    )) as [{ stored: string }];
    expect(stored).not.toContain(tokenOf(mail));

    const refused = await confirm(tokenOf(mail), 'short');
    expect([refused.status, codeOf(refused)]).toEqual([400, 'VALIDATION_ERROR']);
    expect((await confirm(tokenOf(mail), 'a wholly new secret 7')).status).toBe(204);
    expect((await refresh(stack.rest, session.cookie)).status).toBe(401);
    expect((await stack.call('GET', '/v1/orders', { token: session.token })).status).toBe(401);
    await logIn(stack.rest, { email, password: 'a wholly new secret 7' });
    const replay = await confirm(tokenOf(mail), 'a wholly new secret 8');
    expect((replay.body as { error: { details: object[] } }).error.details).toEqual([
      { field: 'token', message: 'is not valid, has expired or was used before' },
    ]);
    const events = await stack.sql<{ type: string }>(
      'users',
      `SELECT type FROM security_events WHERE type LIKE 'PASSWORD_RESET%' AND "userId" = (SELECT id FROM users WHERE email = $1) ORDER BY 1`,
      [email],
    );
    expect(events.map(({ type }) => type)).toEqual(['PASSWORD_RESET', 'PASSWORD_RESET_REQUESTED']);
  });

  it('looks the same for an account that does not exist, and mails nothing', async () => {
    const known = await requestReset(addressOf('Root'));
    const unknown = await requestReset('nobody@example.org');
    const shape = ({ status, headers, body }: typeof known) => ({
      status,
      headers: [...headers.keys()].sort(),
      body: { ...(body as object), jobId: '', _links: {} },
    });
    expect(shape(unknown)).toEqual(shape(known));
    const jobs = [jobOf(known).jobId, jobOf(unknown).jobId];
    for (const id of jobs) await until(async () => (await readJob(id))['status'] === 'succeeded');
    const [one, other] = await Promise.all(jobs.map((id) => readJob(id)));
    const withoutIds = (job: object) => ({ ...job, id: '', _links: {}, createdAt: '', updatedAt: '' });
    expect(withoutIds(other as object)).toEqual(withoutIds(one as object));
    await mailTo(addressOf('Root'));
    expect(mailsTo('nobody@example.org')).toEqual([]);
    // Mails are jobs of their own, which administrators alone see.
    const [mail] = await stack.sql<{ id: string }>('users', `SELECT id FROM jobs WHERE kind = 'SEND_MAIL' ORDER BY id DESC LIMIT 1`);
    expect((await stack.call('GET', `/v1/jobs/${mail?.id ?? ''}`)).status).toBe(404);
    expect((await stack.call('GET', `/v1/jobs/${mail?.id ?? ''}`, { token: admin.token })).status).toBe(200);
  });

  it('mails nothing that the one who registered the account has written', async () => {
    const [email, name] = ['victim@example.org', 'friend.\n\nYour account is locked. Visit http://evil.example/ now'];
    expect((await stack.call('POST', '/v1/users', { body: { email, name, password: 'Evil-passes-1' } })).status).toBe(201);
    expect((await requestReset(email)).status).toBe(202);
    const { text } = await mailTo(email);
    expect(text).toContain(new URL(system.issuer).host);
    expect(text).not.toMatch(/evil|locked/);
  });

  it('answers 400 without an e-mail address, and 429 after several requests for one account, known or not', async () => {
    expect((await requestReset('no address')).status).toBe(400);
    expect((await stack.call('POST', '/v1/auth/password-reset', { body: {} })).status).toBe(400);
    for (const email of ['often@example.org', system.ada.email]) {
      const replies = [];
      for (let i = 0; i < 4; i++) replies.push(await requestReset(email));
      expect(replies.map(({ status }) => status)).toEqual([202, 202, 202, 429]);
      expect(Number(replies[3]?.headers.get('retry-after'))).toBeGreaterThan(30);
    }
  });

  it('repeats the stored response for the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'reset-1' };
    const send = () => stack.call('POST', '/v1/auth/password-reset', { body: { email: 'again@example.org' }, headers });
    const [first, second] = [await send(), await send()];
    expect([second.body, second.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  });
});

describe('POST /v1/users/{id}/password-reset', () => {
  it('mails a link to the account, and its job belongs to the caller', async () => {
    const linus = await stack.createAccount('Linus');
    const reply = await stack.call('POST', `/v1/users/${linus.id}/password-reset`, { token: linus.token });
    const { jobId } = jobOf(reply);
    expect(reply.status).toBe(202);
    await mailTo(addressOf('Linus'));
    expect([(await readJob(jobId, linus.token))['kind'], (await stack.call('GET', `/v1/jobs/${jobId}`)).status]).toEqual([
      'reset_password',
      404,
    ]);
    const list = await stack.call('GET', '/v1/jobs', { token: linus.token });
    expect((list.body as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([jobId]);
    const unknown = await stack.call('POST', '/v1/users/usr_00000000000000000000000000/password-reset', { token: linus.token });
    expect(unknown.status).toBe(202);
  });
});

describe('the link', () => {
  it('is used by one of two confirmations at the same moment', async () => {
    await stack.createAccount('Ken');
    await requestReset(addressOf('Ken'));
    const token = tokenOf(await mailTo(addressOf('Ken')));
    const replies = await Promise.all([1, 2, 3].map((i) => confirm(token, `a wholly new secret ${String(i)}`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    const winner = replies.findIndex(({ status }) => status === 204) + 1;
    await logIn(stack.rest, { email: addressOf('Ken'), password: `a wholly new secret ${String(winner)}` });
  });

  it('is invalid once another link was used, and once it has expired', async () => {
    await stack.createAccount('Dennis');
    const email = addressOf('Dennis');
    await requestReset(email);
    await requestReset(email);
    const [first, second] = [await mailTo(email), await mailTo(email, 2)];
    expect(tokenOf(first)).not.toBe(tokenOf(second));
    expect((await confirm(tokenOf(second), 'a wholly new secret 1')).status).toBe(204);
    expect((await confirm(tokenOf(first), 'a wholly new secret 2')).status).toBe(400);
    await requestReset(email);
    const third = await mailTo(email, 3);
    await stack.sql('users', `UPDATE password_resets SET "expiresAt" = now() - interval '1 second'`);
    expect((await confirm(tokenOf(third), 'a wholly new secret 3')).status).toBe(400);
  });

  it('leads to a page without scripts, on which the password is set', async () => {
    await stack.createAccount('Barbara');
    const browser = new FormBrowser(system.issuer);
    await browser.open('/password-reset');
    const asked = await browser.submit({ email: addressOf('Barbara') });
    expect([asked.status, asked.html]).toEqual([202, expect.stringContaining('Look into your mailbox')]);
    const { link } = await mailTo(addressOf('Barbara'));
    const shown = await browser.open(link);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect([shown.headers.get('referrer-policy'), shown.headers.get('cache-control')]).toEqual(['no-referrer', 'no-store']);
    const refused = await browser.submit({ password: 'password' });
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('most common passwords')]);
    const done = await browser.submit({ password: 'a wholly new secret 9' });
    expect([done.status, done.html]).toEqual([200, expect.stringContaining('Your password was set')]);
    await logIn(stack.rest, { email: addressOf('Barbara'), password: 'a wholly new secret 9' });
    const again = await browser.open(link);
    expect([again.status, again.html]).toEqual([400, expect.stringContaining('This link does not work')]);
  });
});

describe('the mail', () => {
  it('is sent again, as the same one, by another process when its sender is killed after the server has accepted it', async () => {
    await stack.createAccount('Margaret');
    const email = addressOf('Margaret');
    const [reached, killed] = [new EventEmitter(), new EventEmitter()];
    const isReached = once(reached, 'done');
    mails.beforeAccept = async ({ to }) => {
      if (to !== email) return;
      mails.beforeAccept = () => Promise.resolve();
      reached.emit('done');
      await once(killed, 'done');
    };
    await requestReset(email);
    await isReached;
    await stack.kill('users');
    killed.emit('done');
    await stack.revive('users');
    const [first, second] = [await mailTo(email), await mailTo(email, 2)];
    expect([second.messageId, tokenOf(second)]).toEqual([first.messageId, tokenOf(first)]);
    expect((await confirm(tokenOf(first), 'a wholly new secret 1')).status).toBe(204);
    expect((await confirm(tokenOf(second), 'a wholly new secret 2')).status).toBe(400);
  });

  it('becomes a dead letter when the server refuses it, which an administrator lists and retries', async () => {
    await stack.createAccount('Radia');
    const email = addressOf('Radia');
    mails.beforeAccept = () => Promise.reject(Object.assign(new Error('No such mailbox'), { responseCode: 550 }));
    await requestReset(email);
    const list = async () =>
      ((await stack.call('GET', '/v1/jobs?status=failed', { token: admin.token })).body as { data: Record<string, unknown>[] }).data;
    await until(async () => (await list()).length === 1);
    const [dead] = await list();
    expect(dead).toMatchObject({
      kind: 'send_mail',
      error: { code: 'BUSINESS_RULE_VIOLATION', message: 'The mail server refused the mail with the code 550.' },
    });
    mails.beforeAccept = () => Promise.resolve();
    const path = `/v1/jobs/${String(dead?.['id'])}/retry`;
    const other = await stack.createAccount('Vint');
    expect((await stack.call('POST', path, { token: other.token })).status).toBe(403);
    const retried = await stack.call('POST', path, { token: admin.token });
    expect([retried.status, retried.body]).toEqual([200, expect.objectContaining({ status: 'queued' })]);
    expect((await confirm(tokenOf(await mailTo(email)), 'a wholly new secret 1')).status).toBe(204);
    expect(await list()).toEqual([]);
  });
});
