/** `npm start` as a process: it starts everything, restarts what crashes, and leaves no process behind (contract §1). */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { SHORT_LIVED } from '../../stack/processes/process.ts';
import {
  PORT_SETTINGS,
  type Ports,
  type SupervisorProcess,
  areFree,
  chooseFreePorts,
  findChildren,
  readDemoCredentials,
  startSupervisor,
} from '../../stack/processes/supervisor-process.ts';

interface Credentials {
  readonly accounts: readonly { email: string; password: string; role: string; plan: string; userId: string; apiKey: string }[];
  readonly oauthClients: readonly { clientId: string; clientSecret?: string; redirectUris: string[]; grantTypes: string[] }[];
}

let home: string;
let dataDirectory: string;
let ports: Ports;
let trestle: SupervisorProcess;

const rest = () => `http://localhost:${String(ports.REST_PORT)}`;
const start = async () => {
  trestle = startSupervisor({ ports, dataDirectory });
  await trestle.says('Trestle is ready');
  await trestle.says('Ctrl-C');
};
/** The one child of that name. Never none: to the system 0 means the whole group, this very test among it. */
const childOf = (name: string): number => {
  const [pid, ...others] = findChildren(trestle.child.pid ?? -1, name);
  if (pid === undefined || others.length > 0) throw new Error(`expected one process for ${name}`);
  return pid;
};
const stop = async () => {
  trestle.child.kill('SIGTERM');
  return trestle.ended;
};
const logIn = async ({ email, password }: { email: string; password: string }) => {
  const { body } = await request(`${rest()}/v1/auth/login`, { method: 'POST', body: { email, password } });
  return body as { accessToken: string; user: { id: string } };
};
const ADA = { email: 'ada@example.com', password: 'ada-Passw0rd!' };
const ask = async (query: string, token?: string) => {
  const url = `http://localhost:${String(ports.GATEWAY_PORT)}/graphql`;
  return (await request(url, { method: 'POST', body: { query }, token })).body as { data: unknown; errors?: unknown };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-start-'));
  // mkdtemp creates a folder that others cannot read, but PostgreSQL runs as `nobody` when it is started by root.
  await chmod(home, 0o755);
  dataDirectory = join(home, 'data');
  ports = await chooseFreePorts();
  await start();
});
afterAll(async () => {
  await stop();
  await rm(home, { recursive: true, force: true });
});

describe('npm start, when it is ready,', () => {
  it('has started within 25 s and prints every address', () => {
    expect(Number(/ready,? after ([\d.]+) s/.exec(trestle.output())?.[1])).toBeLessThan(25);
    for (const setting of PORT_SETTINGS) expect(trestle.output()).toContain(String(ports[setting]));
    expect(trestle.output()).toContain(dataDirectory);
    expect(trestle.output()).not.toContain('/graphql/graphql');
    // Nothing is wrong, so nothing is warned of.
    expect(trestle.output()).not.toMatch(/ (?:warn|error): /);
  });

  const withCurl = spawnSync('curl', ['--version']).status === 0 ? it : it.skip;
  withCurl('prints three lines that work as they are pasted', () => {
    const lines = trestle
      .output()
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('curl -s'));
    expect(lines).toHaveLength(3);
    const answers = execFileSync('sh', ['-c', lines.join('\necho\n')], { encoding: 'utf8' })
      .trim()
      .split(/\n+/);
    const [login, federated, list] = answers;
    expect(login).toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    const { data, errors } = JSON.parse(federated ?? '') as { data: { me: Record<string, unknown[]> }; errors?: unknown };
    expect(errors).toBeUndefined();
    expect(data.me).toMatchObject({ name: 'Ada Okonkwo' });
    expect(data.me['posts']?.length).toBeGreaterThan(5);
    expect(data.me['orders']?.length).toBeGreaterThan(5);
    const { data: users } = JSON.parse(list ?? '') as { data: object[] };
    expect(users).toHaveLength(5);
    for (const user of users) expect(Object.keys(user).sort()).toEqual(['id', 'name']);
  });

  const withProc = process.platform === 'linux' ? it : it.skip;
  withProc(
    'runs each process with the options of Node.js that it has itself, and those of packages/service/node.env, with its memory allocator',
    async () => {
      for (const name of ['subgraphs/users', 'subgraphs/orders', 'subgraphs/content', 'gateway', 'rest-bridge']) {
        const folder = `/proc/${String(childOf(`${name}/dist`))}`;
        const command = await readFile(`${folder}/cmdline`, 'utf8');
        const options = command.split('\0').slice(1, -2);
        expect(options).toEqual(expect.arrayContaining([...SHORT_LIVED]));
        const shown = execFileSync(process.execPath, [...options, '-p', 'process.env.NODE_OPTIONS'], { encoding: 'utf8' });
        expect(shown.trim()).toBe('--max-old-space-size=1024 --max-semi-space-size=16');
        expect((await readFile(`${folder}/environ`, 'utf8')).split('\0')).toContain('MALLOC_TRIM_THRESHOLD_=4194304');
      }
    },
  );

  it('gives demo credentials that work, in the shape of the contract, readable by their owner only', async () => {
    const credentials = readDemoCredentials(dataDirectory) as Credentials;
    expect(
      credentials.oauthClients.map(({ clientId, clientSecret, grantTypes }) => [clientId, clientSecret !== undefined, grantTypes]),
    ).toEqual([
      ['demo-browser-app', false, ['authorization_code', 'refresh_token']],
      ['demo-machine', true, ['client_credentials']],
      ['demo-device', false, ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token']],
    ]);
    expect(credentials.accounts.map(({ email, role, plan }) => [email, role, plan])).toEqual([
      ['admin@example.com', 'ADMIN', 'enterprise'],
      ['moderator@example.com', 'MODERATOR', 'pro'],
      ['ada@example.com', 'USER', 'pro'],
      ['bob@example.com', 'USER', 'free'],
    ]);
    for (const account of credentials.accounts) {
      expect((await logIn(account)).user.id).toBe(account.userId);
      expect(trestle.output()).toContain(account.apiKey);
    }
    const names = await readdir(dataDirectory, { recursive: true });
    const secrets = names.filter((name) => /credentials|private/.test(name));
    expect(secrets.length).toBeGreaterThanOrEqual(2);
    for (const name of secrets) expect((await stat(join(dataDirectory, name))).mode & 0o077).toBe(0);
  });

  it('gives demo API keys that work at every transport', async () => {
    const { accounts } = readDemoCredentials(dataDirectory) as Credentials;
    const url = `http://localhost:${String(ports.GATEWAY_PORT)}/graphql`;
    const query = '{ me { id } }';
    for (const { userId, apiKey } of accounts) {
      for (const headers of [{ 'x-api-key': apiKey }, { authorization: `ApiKey ${apiKey}` }] as Record<string, string>[]) {
        const expected = { data: { me: { id: userId } } };
        const redirect = await request(`${rest()}/v1/users/me`, { method: 'GET', headers });
        expect([redirect.status, redirect.headers.get('location')]).toEqual([307, `/v1/users/${userId}`]);
        expect((await request(`${rest()}/v1/orders`, { method: 'GET', headers })).status).toBe(200);
        expect((await request(url, { method: 'POST', body: { query }, headers })).body).toEqual(expected);
        expect((await request(`${url}?query=${encodeURIComponent(query)}`, { method: 'GET', headers })).body).toEqual(expected);
        for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0']) {
          const stream = await openEventStream(url, { query, accept, headers });
          await until(() => Promise.resolve(stream.text.includes(userId)));
          stream.close();
        }
        for (const options of [{ init: headers }, { headers }]) {
          const socket = await openSocket(url, options);
          socket.send({ id: '1', type: 'subscribe', payload: { query } });
          expect((await socket.next()).payload).toEqual(expected);
          await socket.close();
        }
      }
    }
  });

  it('gives the administrator a demo API key that may change roles (contract §3)', async () => {
    const { accounts } = readDemoCredentials(dataDirectory) as Credentials;
    const keyOf = (role: string) => accounts.find((account) => account.role === role)?.apiKey ?? '';
    const userId = accounts.find(({ role }) => role === 'USER')?.userId ?? '';
    const change = (apiKey: string, role: string) =>
      request(`${rest()}/v1/users/${userId}`, { method: 'PATCH', body: { role }, headers: { 'x-api-key': apiKey } });
    expect((await change(keyOf('MODERATOR'), 'moderator')).status).toBe(403);
    for (const role of ['moderator', 'user']) expect((await change(keyOf('ADMIN'), role)).status).toBe(200);
  });

  it('restarts a killed process, and prints it', async () => {
    const victim = childOf('subgraphs/orders');
    process.kill(victim, 'SIGKILL');
    await trestle.says('orders ended unexpectedly (SIGKILL)');
    await trestle.says('orders is ready again');
    expect(childOf('subgraphs/orders')).not.toBe(victim);
    await until(async () => (await ask('{ productsConnection(first: 1) { totalCount } }')).errors === undefined);
  });

  // These are not failures in a row: each run was ready before it was killed.
  it('waits at most 1 s before it restarts a process that is killed repeatedly', async () => {
    for (let kill = 0; kill < 4; kill++) {
      process.kill(childOf('subgraphs/orders'), 'SIGKILL');
      await trestle.says('orders ended unexpectedly (SIGKILL)');
      await trestle.says('orders is ready again');
    }
    const pauses = [...trestle.output().matchAll(/orders ended .* restarting in ([\d.]+) s/g)].map(([, seconds]) => Number(seconds));
    expect(pauses.length).toBeGreaterThan(4);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1);
  });

  it('restarts PostgreSQL when it was killed, and loses nothing', async () => {
    const { accessToken } = await logIn(ADA);
    const created = await request(`${rest()}/v1/orders`, { method: 'POST', body: { productId: 1, qty: 1 }, token: accessToken });
    expect(created.status).toBe(201);
    const [pid] = (await readFile(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    expect(Number(pid)).toBeGreaterThan(1);
    process.kill(Number(pid), 'SIGKILL');
    await trestle.says('PostgreSQL is ready again');
    const { id } = created.body as { id: string };
    await until(async () => (await request(`${rest()}/v1/orders/${id}`, { method: 'GET', token: accessToken })).status === 200);
  });

  it('rejects a second start on the same directory, and names it', async () => {
    const second = startSupervisor({ ports: await chooseFreePorts(), dataDirectory });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`Another instance of Trestle uses ${dataDirectory}.`);
  });

  it('rejects an empty credentials file before it starts anything, and prints how to recover', async () => {
    const elsewhere = join(home, 'without-credentials');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'demo-credentials.json'), '');
    const second = startSupervisor({ ports: await chooseFreePorts(), dataDirectory: elsewhere });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(
      `${join(elsewhere, 'demo-credentials.json')} is empty. Restore it from a backup, or move it to another directory`,
    );
    expect(await readdir(elsewhere)).not.toContain('postgres');
  });

  it('names every taken port with its setting, and starts nothing', async () => {
    const elsewhere = join(home, 'elsewhere');
    const second = startSupervisor({ ports, dataDirectory: elsewhere });
    expect(await second.ended).toBe(1);
    for (const setting of PORT_SETTINGS)
      expect(second.output()).toMatch(new RegExp(`Port ${String(ports[setting])} is already in use.*${setting}`));
    expect(await readdir(elsewhere)).not.toContain('postgres');
  });
});

describe('npm start, when it stops,', () => {
  it('stops all processes within 10 s of SIGTERM, and keeps the data for the next start', async () => {
    const { accessToken, user } = await logIn(ADA);
    const bio = `Crossed a bridge at ${new Date().toISOString()}`;
    await request(`${rest()}/v1/users/${user.id}`, { method: 'PATCH', body: { bio }, token: accessToken });
    const children = findChildren(trestle.child.pid ?? -1, '');
    expect(children).toHaveLength(7);

    const began = Date.now();
    expect(await stop()).toBe(0);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(await areFree(ports)).toBe(true);
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');

    await start();
    expect(trestle.output()).not.toContain('Loading demo data');
    // The keys were kept as well: the token of before is still good.
    expect(await ask('{ me { bio } }', accessToken)).toEqual({ data: { me: { bio } } });
  });

  it('leaves no process behind when it is killed, and starts again on the same data', async () => {
    const processes = findChildren(trestle.child.pid ?? -1, 'main.js');
    expect(processes).toHaveLength(6);
    trestle.child.kill('SIGKILL');
    expect(await trestle.ended).toBe('SIGKILL');
    await start();
    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await ask('{ productsConnection(first: 1) { totalCount } }')).toEqual({ data: { productsConnection: { totalCount: 64 } } });
  });

  it('kills within 10 s a process that does not end', async () => {
    process.kill(childOf('subgraphs/content'), 'SIGSTOP');
    const began = Date.now();
    expect(await stop()).toBe(0);
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(await areFree(ports)).toBe(true);
    await start();
  });

  it('ends immediately at the second Ctrl-C', async () => {
    process.kill(childOf('subgraphs/content'), 'SIGSTOP');
    const began = Date.now();
    trestle.child.kill('SIGINT');
    // npm passes one Ctrl-C on twice, so that only a later one counts as the second.
    await until(async () => {
      trestle.child.kill('SIGINT');
      return Promise.resolve(trestle.child.exitCode !== null);
    });
    expect(await trestle.ended).toBe(130);
    // Without the second one it would take the 10 s after which a process that does not stop is killed.
    expect(Date.now() - began).toBeLessThan(8000);
    await until(() => areFree(ports));
  });
});
