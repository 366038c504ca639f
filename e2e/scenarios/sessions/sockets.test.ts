/** Sessions over a WebSocket: what it can do, and what it refuses because it has no cookies. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { logIn } from './browser.ts';

const ada = { email: 'ada@example.org', password: 'Ada-passes-1' };

let stack: LeasedStack;
let url: string;
beforeAll(async () => {
  stack = await leaseStack();
  url = `${stack.gateway}/graphql`;
  await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

/** Runs an operation on a new socket, and returns the payload of its message. */
async function run(query: string, init: Record<string, string> = {}): Promise<unknown> {
  const socket = await openSocket(url, { init });
  socket.send({ id: '1', type: 'subscribe', payload: { query } });
  const { payload } = await socket.next(({ type }) => type === 'next' || type === 'error');
  await socket.close();
  return payload;
}

describe('sessions over a WebSocket', () => {
  it('lists and ends sessions', async () => {
    const [own, other] = [await logIn(stack.rest, ada), await logIn(stack.rest, ada)];
    const authorization = `Bearer ${own.token}`;
    const listed = (await run('{ sessions { edges { node { id isCurrent } } } }', { authorization })) as {
      data: { sessions: { edges: { node: { id: string; isCurrent: boolean } }[] } };
    };
    const sessions = listed.data.sessions.edges.map(({ node }) => node);
    const ended = sessions.find(({ isCurrent }) => !isCurrent);
    expect(sessions).toHaveLength(2);
    await run(`mutation { endSession(id: "${ended?.id ?? ''}") }`, { authorization });
    expect((await stack.call('GET', '/v1/sessions', { token: other.token })).status).toBe(401);
    expect((await stack.call('GET', '/v1/sessions', { token: own.token })).status).toBe(200);
  });

  it('answers FORBIDDEN to refreshSession, and changes nothing', async () => {
    const before = await stack.sql('users', 'SELECT * FROM sessions ORDER BY id');
    const refused = await run('mutation { refreshSession { token } }');
    const result = JSON.stringify(refused);
    expect(result).toContain('"code":"FORBIDDEN"');
    expect(result).toContain('A WebSocket cannot set the cookie.');
    expect(await stack.sql('users', 'SELECT * FROM sessions ORDER BY id')).toEqual(before);
  });

  it('begins a session without a credential, and closes a socket with an invalid credential before any operation, a login too', async () => {
    const login = `mutation { login(email: "${ada.email}", password: "${ada.password}") { token } }`;
    expect(await run(login)).toMatchObject({ data: { login: { token: expect.any(String) } } });
    const socket = await openSocket(url, { init: null });
    socket.send({ type: 'connection_init', payload: { authorization: 'Bearer expired' } });
    socket.send({ id: '1', type: 'subscribe', payload: { query: login } });
    expect(await socket.closed).toMatchObject({ code: 4403, reason: 'Forbidden' });
  });
});
