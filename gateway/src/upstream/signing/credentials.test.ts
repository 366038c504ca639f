import { describe, expect, it } from '@jest/globals';
import { type Credentials, CredentialsError, keepCredentials } from './credentials.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** Returns kept credentials, whose clock and finder are those of the test. */
const open = () => {
  const state = { at: 0, calls: 0, lines: [] as string[], next: (): Promise<Credentials> => Promise.reject(new Error('none')) };
  const find = () => {
    state.calls++;
    return state.next();
  };
  const warn = (message: string, fields?: { error?: unknown }) => state.lines.push(`${message} ${String(fields?.error)}`);
  return { state, read: keepCredentials(find, { log: { warn }, now: () => state.at }) };
};
const withId = (accessKeyId: string, expiresAt?: number): (() => Promise<Credentials>) => {
  const expiration = expiresAt === undefined ? {} : { expiration: new Date(expiresAt) };
  return () => Promise.resolve({ accessKeyId, secretAccessKey: SECRET, ...expiration });
};
const MINUTE_MS = 60_000;

describe('the credentials of signatures', () => {
  it('are found once for requests that come together', async () => {
    const { state, read } = open();
    state.next = withId('a');
    const all = await Promise.all([read(), read(), read()]);
    expect(all.map(({ accessKeyId }) => accessKeyId)).toEqual(['a', 'a', 'a']);
    expect(state.calls).toBe(1);
  });

  it('are renewed five minutes before they expire, while requests still get the last ones', async () => {
    const { state, read } = open();
    state.next = withId('a', 60 * MINUTE_MS);
    await read();
    state.at = 54 * MINUTE_MS;
    await read();
    expect(state.calls).toBe(1);
    state.at = 55 * MINUTE_MS;
    state.next = withId('b', 120 * MINUTE_MS);
    expect(await read()).toMatchObject({ accessKeyId: 'a' });
    expect(state.calls).toBe(2);
    await new Promise(setImmediate);
    expect(await read()).toMatchObject({ accessKeyId: 'b' });
  });

  it('are used until they expire when they cannot be renewed, with an attempt each two seconds', async () => {
    const { state, read } = open();
    state.next = withId('a', 10 * MINUTE_MS);
    await read();
    state.at = 6 * MINUTE_MS;
    state.next = () => Promise.reject(new Error('unreachable'));
    for (let i = 0; i < 10; i++) {
      expect(await read()).toMatchObject({ accessKeyId: 'a' });
      await new Promise(setImmediate);
    }
    expect(state.calls).toBe(2);
    state.at += 2000;
    await read();
    expect(state.calls).toBe(3);
    await new Promise(setImmediate);
    state.at = 10 * MINUTE_MS;
    await expect(read()).rejects.toThrow(CredentialsError);
  });

  it('without an expiry are read again after five minutes', async () => {
    const { state, read } = open();
    state.next = withId('a');
    await read();
    state.at = 5 * MINUTE_MS;
    await read();
    expect(state.calls).toBe(2);
  });

  it('that were found when they had expired are not used', async () => {
    const { state, read } = open();
    state.next = withId('a', 0);
    await expect(read()).rejects.toThrow('have expired');
  });

  it('fail at once for two seconds after none were found, and are then looked for again', async () => {
    const { state, read } = open();
    for (let i = 0; i < 5; i++) await expect(read()).rejects.toThrow('none');
    expect(state.calls).toBe(1);
    state.at = 2000;
    state.next = withId('a');
    expect(await read()).toMatchObject({ accessKeyId: 'a' });
    expect(state.lines).toHaveLength(1);
  });

  it('are looked for again when the clock goes back after none were found', async () => {
    const { state, read } = open();
    state.at = 60 * MINUTE_MS;
    await expect(read()).rejects.toThrow('none');
    state.at = 0;
    state.next = withId('a');
    expect(await read()).toMatchObject({ accessKeyId: 'a' });
  });

  it('do not appear in messages, nor does the command that prints them', async () => {
    const { state, read } = open();
    state.next = () => Promise.reject(new Error(`Command failed: print-keys --secret ${SECRET}\n${SECRET}`));
    const error = await read().catch((each: unknown) => each);
    expect(`${String(error)} ${state.lines.join(' ')}`).not.toMatch(/print-keys|EXAMPLEKEY/);
    expect(state.lines).toHaveLength(1);
  });
});
