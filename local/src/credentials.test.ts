import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isApiKey } from '@trestle/identity/credentials/api-keys';
import { ensureCredentials, readCredentials } from './credentials.ts';

describe('ensureCredentials', () => {
  it('generates the API keys of the demo accounts once, in a file that only the owner can read', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-credentials-'));
    try {
      expect(await readCredentials(home)).toBeUndefined();
      const made = await ensureCredentials(home);
      expect(await ensureCredentials(home)).toEqual(made);
      expect(await readCredentials(home)).toEqual(made);
      expect((await stat(join(home, 'demo-credentials.json'))).mode & 0o077).toBe(0);
      expect(made.oauthClients.map(({ clientId, grantTypes }) => [clientId, grantTypes])).toEqual([
        ['demo-browser-app', ['authorization_code', 'refresh_token']],
        ['demo-machine', ['client_credentials']],
        ['demo-device', ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token']],
      ]);
      expect(made.oauthClients.map(({ clientSecret }) => clientSecret)).toEqual([
        undefined,
        expect.stringMatching(/^trestle_secret_[\w-]{43}$/),
        undefined,
      ]);
      expect(made.accounts.map(({ email, password, role, plan }) => [email, password, role, plan])).toEqual([
        ['admin@example.com', 'admin-Passw0rd!', 'ADMIN', 'enterprise'],
        ['moderator@example.com', 'moderator-Passw0rd!', 'MODERATOR', 'pro'],
        ['ada@example.com', 'ada-Passw0rd!', 'USER', 'pro'],
        ['bob@example.com', 'bob-Passw0rd!', 'USER', 'free'],
      ]);
      for (const { userId, apiKey } of made.accounts) {
        expect(userId).toMatch(/^usr_[0-9a-hjkmnp-tv-z]{26}$/);
        expect(isApiKey(apiKey)).toBe(true);
      }
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('replaces API keys of a version that did not accept them', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-credentials-'));
    try {
      const made = await ensureCredentials(home);
      const old = made.accounts.map((account) => ({ ...account, apiKey: `trestle_${'x'.repeat(43)}` }));
      await writeFile(join(home, 'demo-credentials.json'), JSON.stringify({ accounts: old, oauthClients: [] }));
      const renewed = await ensureCredentials(home);
      expect(renewed.accounts.every(({ apiKey }) => isApiKey(apiKey))).toBe(true);
      expect(await readCredentials(home)).toEqual(renewed);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('adds the OAuth clients to the file of an earlier version, and keeps its API keys', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-credentials-'));
    try {
      const made = await ensureCredentials(home);
      await writeFile(join(home, 'demo-credentials.json'), JSON.stringify({ ...made, oauthClients: [] }));
      const added = await ensureCredentials(home);
      expect(added.accounts).toEqual(made.accounts);
      expect(added.oauthClients).toHaveLength(3);
      expect(await ensureCredentials(home)).toEqual(added);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it.each([
    ['', 'is empty'],
    ['{"accounts": [', 'is not a list of demo accounts'],
    ['null', 'is not a list of demo accounts'],
    ['{"accounts": [null]}', 'is not a list of demo accounts'],
    ['{"accounts": []}', 'is not a list of demo accounts'],
  ])(
    'rejects a credentials file with the content %j with a message that says how to recover, and does not change it',
    async (text, fault) => {
      const home = await mkdtemp(join(tmpdir(), 'trestle-credentials-'));
      const file = join(home, 'demo-credentials.json');
      try {
        await writeFile(file, text);
        await expect(ensureCredentials(home)).rejects.toThrow(`${file} ${fault}. Restore it from a backup, or move it`);
        expect(await readFile(file, 'utf8')).toBe(text);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    },
  );
});
