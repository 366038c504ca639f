/** The short form of the attack suite: every attack that is marked for it, with a tenth of its requests, on a system of its own. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ATTACKS } from './attacks.ts';
import { readOptions } from './options.ts';
import { attachSystem } from './target/system.ts';

interface Row {
  readonly name: string;
  readonly verdict: string;
  readonly note: string;
}

const SHORT = ATTACKS.filter(({ isShort }) => isShort === true);
/** The processes of the system are children of this one; it ends them all. */
const MAIN = fileURLToPath(new URL('../dist/attack/main.js', import.meta.url));

async function runShort(): Promise<Row[]> {
  const child = spawn(process.execPath, [MAIN, '--short', '--json'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let progress = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (progress += chunk.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  try {
    return JSON.parse(output) as Row[];
  } catch {
    throw new Error(`The attack suite printed no outcomes:\n${progress}`);
  }
}

describe('a started system', () => {
  let rows: Row[] = [];

  beforeAll(async () => {
    rows = await runShort();
  }, 180_000);

  it.each(SHORT.map(({ name, clause }) => ({ name, clause })))('withstands $name ($clause)', ({ name }) => {
    expect(rows.find((row) => row.name === name)).toMatchObject({ verdict: 'held' });
  });
});

describe('the table of attacks', () => {
  it('names every attack once', () => {
    expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  });

  it('has an attack on every process', () => {
    expect(new Set(ATTACKS.map(({ target }) => target))).toEqual(
      new Set(['supervisor', 'rest-bridge', 'gateway', 'users', 'orders', 'content']),
    );
  });
});

describe('npm run attack', () => {
  const urls = (host: string) => ({
    'rest-bridge': `http://${host}:3000`,
    gateway: `http://${host}:4000`,
    users: `http://${host}:4001`,
    orders: `http://${host}:4002`,
    content: `http://${host}:4003`,
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('attacks a system at %s', (host) => {
    expect(attachSystem(urls(host)).addresses.gateway.port).toBe(4000);
  });

  it.each(['192.0.2.1', 'example.org', '10.0.0.1', '127.0.0.1.example.org', '0.0.0.0'])(
    'refuses to attack %s, which is not this machine',
    (host) => {
      expect(() => attachSystem(urls(host))).toThrow(/not on this machine/);
    },
  );

  it('demands the addresses of all processes when one is named', () => {
    expect(() => readOptions(['--gateway', 'http://127.0.0.1:4000'])).toThrow(/rest-bridge, users, orders, content/);
  });
});
