/** False access tokens at every transport (RFC 7519, RFC 8725, RFC 9068): none may ever show data. */
import { type Attack, type Field, demand, requireOwn } from '../attack.ts';
import { findAccount } from '../target/system.ts';
import { ask, askGraphql, countStatuses, inParallel } from '../wire/http.ts';
import type { RawReply } from '../wire/http-reply.ts';
import { openRawSocket } from '../wire/web-socket.ts';
import { makeFalseTokens } from './false-tokens.ts';

const SECRET = /@example\.com|"accessToken"|"email":"(?!\*)/;
const QUERY = '{me{id email} usersConnection(first:1){edges{node{email}}}}';
const ALLOWED = new Set([400, 401, 413, 431]);

function check({ status, body }: RawReply, about: string): void {
  demand(ALLOWED.has(status), `${about}: status ${status}: ${body.toString().slice(0, 200)}`);
  demand(!SECRET.test(body.toString()), `${about}: data was shown`);
}

/** What is refused says nothing unless a right token is taken. */
async function checkGoodToken({ connections, addresses, ...field }: Field): Promise<void> {
  const own = requireOwn({ connections, addresses, ...field });
  const admin = findAccount(own, 'admin');
  const authorization = ['Authorization', `Bearer ${own.issueToken(admin)}`];
  const { body } = await askGraphql(connections, addresses.gateway, { query: '{me{id}}' }, { headers: authorization });
  demand(body.includes(admin.userId), `a right token was refused: ${body.toString().slice(0, 200)}`);
}

async function overRest(field: Field): Promise<string> {
  await checkGoodToken(field);
  const tokens = makeFalseTokens(requireOwn(field));
  const replies = await inParallel(tokens.length, 8, async (n) => {
    const [reason = '', authorization = ''] = tokens[n] ?? [];
    const reply = await ask(field.connections, field.addresses['rest-bridge'], {
      path: '/v1/users?fields=id,email',
      headers: ['Authorization', authorization],
    });
    check(reply, reason);
    return reply;
  });
  return `${tokens.length} false tokens: ${countStatuses(replies)}`;
}

async function overGraphql(field: Field, target: 'gateway' | 'users' | 'orders' | 'content'): Promise<string> {
  const tokens = makeFalseTokens(requireOwn(field));
  const query = {
    gateway: QUERY,
    users: QUERY,
    orders: '{ordersConnection{edges{node{id}}}}',
    content: '{postsConnection{edges{node{id}}}}',
  }[target];
  const replies = await inParallel(tokens.length, 8, async (n) => {
    const [reason = '', authorization = ''] = tokens[n] ?? [];
    const reply = await askGraphql(field.connections, field.addresses[target], { query }, { headers: ['Authorization', authorization] });
    check(reply, reason);
    return reply;
  });
  return `${tokens.length} false tokens: ${countStatuses(replies)}`;
}

async function overSockets(field: Field): Promise<string> {
  const tokens = makeFalseTokens(requireOwn(field));
  const codes = await inParallel(tokens.length, 8, async (n) => {
    const [reason = '', authorization = ''] = tokens[n] ?? [];
    const socket = await openRawSocket(field.connections, field.addresses.gateway);
    socket.send({ type: 'connection_init', payload: { authorization } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: QUERY } });
    await socket.message(({ type }) => type === 'next', 2000);
    const status = socket.closeCode() ?? 0;
    const text = socket.connection.received().toString();
    demand([4400, 4401, 4403, 1009].includes(status), `${reason}: closed with ${status} (0: open)`);
    demand(!SECRET.test(text), `${reason}: data was shown`);
    return { status };
  });
  return `${tokens.length} false tokens: ${countStatuses(codes)}`;
}

/** A good token in a place or a shape where it must not count, and headers that name a caller. */
async function misplaced(field: Field): Promise<string> {
  const own = requireOwn(field);
  const account = findAccount(own, 'admin');
  const admin = account.userId;
  const token = own.issueToken(account);
  const names = [
    'X-User-Id',
    'X-User-ID',
    'X-Role',
    'X-Roles',
    'X-Caller',
    'X-Forwarded-User',
    'X-Remote-User',
    'Remote-User',
    'X-Auth-User',
    'X-Authenticated-Userid',
    'X-Trestle-Caller',
    'X-Trestle-Role',
    'X-Original-Authorization',
    'X-Authorization',
    'Proxy-Authorization',
  ];
  const forged = names.flatMap((name) => [
    [name, admin],
    [name, 'ADMIN'],
    [name, `Bearer ${token}`],
  ]);
  const twice = [
    ['Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`],
    ['Authorization', `Bearer ${token}`, 'authorization', 'Bearer x'],
    ['Authorization', `Bearer ${token}`, 'X-API-Key', 'x'],
  ];
  let anonymous = 0;
  for (const target of ['gateway', 'users'] as const) {
    for (const headers of forged) {
      const reply = await askGraphql(field.connections, field.addresses[target], { query: '{me{id email}}' }, { headers });
      demand(!SECRET.test(reply.body.toString()), `${target}: ${headers.join(': ').slice(0, 60)} was taken for a caller`);
      anonymous++;
    }
    for (const headers of twice) {
      const reply = await askGraphql(field.connections, field.addresses[target], { query: '{me{id email}}' }, { headers });
      demand(ALLOWED.has(reply.status), `${target}: two credentials: status ${reply.status}`);
    }
  }
  for (const path of [
    `/v1/users?access_token=${token}`,
    `/v1/users?token=${token}&fields=id,email`,
    `/v1/users?authorization=Bearer%20${token}`,
  ]) {
    const { body } = await ask(field.connections, field.addresses['rest-bridge'], { path });
    demand(!SECRET.test(body.toString()), `a token in the URL was taken`);
  }
  return `${anonymous} forged headers stayed anonymous; two credentials refused`;
}

const entry = (name: string, target: Attack['target'], run: Attack['run']): Attack => ({
  name,
  target,
  family: 'tokens',
  clause: 'RFC 8725, RFC 9068: 401, 4403 or 400, never data',
  needs: 'own',
  isShort: true,
  run,
});

export const TOKEN_ATTACKS: readonly Attack[] = [
  entry('false tokens over REST', 'rest-bridge', overRest),
  ...(['gateway', 'users', 'orders', 'content'] as const).map((target) =>
    entry(`false tokens over GraphQL at ${target}`, target, (field) => overGraphql(field, target)),
  ),
  entry('false tokens in connection_init', 'gateway', overSockets),
  entry('misplaced tokens and forged identity headers', 'users', misplaced),
];
