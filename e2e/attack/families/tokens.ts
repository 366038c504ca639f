/** False access tokens at every entrance (RFC 7519, RFC 8725, RFC 9068): none may ever show data. */
import { type Attack, type Field, GRAPHQL_SERVICES, demand, requireOwn } from '../attack.ts';
import { findAccount } from '../target/system.ts';
import { ask, askGraphql, countStatuses, inParallel } from '../wire/http.ts';
import { makeFalseTokens, malleate, signToken } from './false-tokens.ts';
import { type Answer, ENTRANCES, type Entrance } from './token-entrances.ts';

const SECRET = /@example\.com|"accessToken"|"email":"(?!\*)|"totalCount":\d|"connection_ack"/;

function demandRefusal({ name, isRefusal }: Entrance, answer: Answer, reason: string): void {
  const { status, challenge = 'no challenge', text } = answer;
  demand(isRefusal(answer), `${name}: ${reason}: ${String(status)} with ${challenge}: ${text.slice(0, 200)}`);
  demand(!SECRET.test(text), `${name}: ${reason}: data was shown`);
}

/** That everything is refused says nothing unless a right token is accepted. */
async function demandService({ name, send, isRefusal }: Entrance, field: Field, token: string): Promise<void> {
  const answer = await send(field, `Bearer ${token}`);
  const isServed = answer.status !== 0 && !isRefusal(answer) && !answer.text.includes('UNAUTHORIZED');
  demand(isServed, `${name}: a right token was refused: ${String(answer.status)}: ${answer.text.slice(0, 200)}`);
}

async function sendFalseTokens(entrance: Entrance, field: Field): Promise<string> {
  const own = requireOwn(field);
  await demandService(entrance, field, own.issueToken(findAccount(own, 'admin')));
  const tokens = makeFalseTokens(own);
  const answers = await inParallel(tokens.length, 8, async (n) => {
    const [reason = '', authorization = ''] = tokens[n] ?? [];
    const answer = await entrance.send(field, authorization);
    demandRefusal(entrance, answer, reason);
    return answer;
  });
  demand(answers.length === tokens.length, `${entrance.name}: only ${String(answers.length)} of ${String(tokens.length)} tokens were sent`);
  return `${String(tokens.length)} false tokens: ${countStatuses(answers)}`;
}

/** (r, n − s) signs the same as (r, s): such a twin is the same token by another text, which a cache may know too. */
async function revokeKnown(field: Field): Promise<string> {
  const own = requireOwn(field);
  const token = signToken(own, { account: 'ada', claims: { sid: 'ses_attacked' } });
  const twin = malleate(token);
  for (const entrance of ENTRANCES) for (const each of [token, twin]) await demandService(entrance, field, each);
  const { body } = await askGraphql(
    field.connections,
    field.addresses.gateway,
    { query: 'mutation{logout}' },
    { headers: ['Authorization', `Bearer ${token}`] },
  );
  demand(body.toString().includes('true'), `logout: ${body.toString().slice(0, 200)}`);
  for (const entrance of ENTRANCES)
    for (const each of [token, twin]) demandRefusal(entrance, await entrance.send(field, `Bearer ${each}`), 'revoked while cached');
  return `a token and its twin were refused at ${String(ENTRANCES.length)} entrances after the logout`;
}

/** Headers that name a caller to some servers, or that hide the credential from them. */
const IDENTITY_HEADERS = [
  ...['X-User-Id', 'X-User-ID', 'X-Role', 'X-Roles', 'X-Caller', 'X-Forwarded-User', 'X-Remote-User', 'Remote-User', 'X-Auth-User'],
  ...['X-Authenticated-Userid', 'X-Trestle-Caller', 'X-Trestle-Role', 'X-Original-Authorization', 'X-Authorization'],
  ...['Proxy-Authorization', 'Trestle-Client', 'Forwarded', 'Cookie'],
];
const PRIVATE_QUERIES = {
  gateway: '{me{id email}}',
  users: '{me{id email}}',
  orders: '{ordersConnection(first:1){edges{node{id}}}}',
  content: '{postsConnection(first:1,filter:{status:DRAFT}){edges{node{id}}}}',
} as const;

/** A good token in a place or a shape where it must not count, and headers that name a caller, at the edge and at each subgraph directly. */
async function misplaced(field: Field): Promise<string> {
  const own = requireOwn(field);
  const account = findAccount(own, 'admin');
  const token = own.issueToken(account);
  const values = [account.userId, 'ADMIN', `Bearer ${token}`, `{"userId":"${account.userId}","role":"ADMIN"}`];
  const forged = IDENTITY_HEADERS.flatMap((name) => values.map((value) => [name, value]));
  const twice = [
    ['Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`],
    ['Authorization', `Bearer ${token}`, 'authorization', 'Bearer x'],
    ['Authorization', `Bearer ${token}`, 'X-API-Key', 'x'],
  ];
  for (const target of GRAPHQL_SERVICES) {
    const query = PRIVATE_QUERIES[target];
    await inParallel(forged.length, 8, async (n) => {
      const headers = forged[n] ?? [];
      const { body } = await askGraphql(field.connections, field.addresses[target], { query }, { headers });
      const isShown = SECRET.test(body.toString()) || body.includes('"id":');
      demand(!isShown, `${target}: ${headers.join(': ').slice(0, 60)} was taken for a caller`);
    });
    for (const headers of twice) {
      const { status } = await askGraphql(field.connections, field.addresses[target], { query }, { headers });
      demand(status === 400, `${target}: two credentials: status ${String(status)}`);
    }
  }
  await demandNoTokenInUrl(field, token);
  return `${String(forged.length)} forged headers stayed anonymous; two credentials were 400`;
}

async function demandNoTokenInUrl({ connections, addresses }: Field, token: string): Promise<void> {
  for (const search of [`access_token=${token}`, `token=${token}&fields=id,email`, `authorization=Bearer%20${token}`]) {
    const { body } = await ask(connections, addresses['rest-bridge'], { path: `/v1/users?${search}` });
    demand(!SECRET.test(body.toString()), 'a token in the URL was taken');
  }
}

interface Row extends Pick<Attack, 'name' | 'target' | 'run'> {
  readonly clause?: string;
}

const entry = ({ clause = 'RFC 8725, RFC 9068: 401 or 4403, never data', ...row }: Row): Attack => ({
  ...row,
  clause,
  family: 'tokens',
  needs: 'own',
  isShort: true,
});

export const TOKEN_ATTACKS: readonly Attack[] = [
  ...ENTRANCES.map((entrance) =>
    entry({ name: `false tokens: ${entrance.name}`, target: entrance.target, run: (field) => sendFalseTokens(entrance, field) }),
  ),
  entry({ name: 'a token that is revoked while every process knows it', target: 'gateway', run: revokeKnown, clause: 'spec §5.3' }),
  entry({ name: 'misplaced tokens and forged identity headers', target: 'users', run: misplaced, clause: 'contract §4: one credential' }),
];
