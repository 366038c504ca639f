/** The commands of README.md, the tutorial and the reference pages, pasted one after the other against what `npm start` runs. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Ports, type SupervisorProcess, chooseFreePorts, startSupervisor } from '../../stack/processes/supervisor-process.ts';
import { parsePage } from './markdown.ts';
import { read } from './repository.ts';
import { type Shell, openShell } from './shell.ts';

let home: string;
let ports: Ports;
let trestle: SupervisorProcess;
let shell: Shell;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-documents-'));
  // mkdtemp creates a folder that others cannot read, but PostgreSQL runs as `nobody` when it is started by root.
  await chmod(home, 0o755);
  ports = await chooseFreePorts();
  trestle = startSupervisor({ ports, dataDirectory: join(home, 'data') });
  await trestle.says('Trestle is ready');
});
afterEach(() => shell.stop());
afterAll(async () => {
  trestle.child.kill('SIGTERM');
  await trestle.ended;
  await rm(home, { recursive: true, force: true });
});

/** The system under test has other ports than the page. */
const toCommand = (code: string) =>
  code
    .replaceAll('localhost:3000', `localhost:${String(ports.REST_PORT)}`)
    .replaceAll('localhost:4000', `localhost:${String(ports.GATEWAY_PORT)}`);
const countSubscriptions = async () => {
  const gateway = `http://localhost:${String(ports.GATEWAY_PORT)}`;
  const counts = await Promise.all(
    ['sse', 'websocket'].map((transport) => readMetric(gateway, `trestle_subscriptions_open{transport="${transport}"}`)),
  );
  return counts.reduce((sum, count) => sum + (Number.isNaN(count) ? 0 : count), 0);
};
/** What starts the system is done by the test itself. */
const commandsOf = (page: string) =>
  parsePage(read(page)).blocks.filter(({ language, code }) => language === 'sh' && !/^npm (?:ci|start)$/m.test(code));

interface Promised {
  /** Refusals that the page shows on purpose. */
  readonly refusals: number;
  /** What the commands below each heading print. */
  readonly printed: Readonly<Record<string, readonly RegExp[]>>;
}

const PAGES: Readonly<Record<string, Promised>> = {
  'README.md': {
    refusals: 0,
    printed: {
      'A short tour': [
        /"orders":\[\{"status"/,
        /"data":\[\{"id":"usr_/,
        /"price":\{"amount":\d+,"currency":"EUR"\}/,
        /"id":"ord_/,
        /event: next\ndata: \{"data":\{"userCreated":\{"id":"usr_\w+","name":"New Comer"\}\}\}/,
      ],
    },
  },
  'docs/tutorial.md': {
    refusals: 2,
    printed: {
      'Log in': [/^eyJ/],
      'One query, three databases': [/"posts":\[\{"title"/, /"orders":\[\{"status"/],
      'The same data by REST': [/"data":\[\{"id":"usr_/, /masked\.invalid/, /"UNAUTHORIZED"/],
      'Change something safely': [/Builds bridges\..*\}200\n/, /"PRECONDITION_FAILED".*\}412\n/],
      'Buy something, once': [/"status":"pending"/, /HTTP\/1\.1 201[^]*HTTP\/1\.1 201[^]*idempotent-replayed: true/i, /"status":"paid"/],
      'Watch events': [/"userCreated":\{"id":"usr_\w+","name":"New Comer","posts":\[\]/, /status: 'CANCELLED'/],
      'Log out': [/^204\n401\n/],
    },
  },
  'docs/rest.md': {
    refusals: 0,
    printed: {
      'REST reference': [],
      'API keys': [/"secret":"trestle_live_/],
      Filters: [/"data":\[\{"age":3\d|"age":(?:3\d|40)/],
      Paging: [/^link: .*<\/v1\/users\?[^>]*>; rel="next"/im],
      'Shape of a resource': [/"author":\{"id":"usr_/],
      Files: [/"id":"vid_/],
      'ETags and conditional requests': [/Builds bridges\./],
      Events: [/^id: /m],
    },
  },
  'docs/graphql.md': {
    refusals: 0,
    printed: { Requests: [/"product":\{"name"/], Authentication: [/"token":"eyJ/], Files: [/"avatar":\{"href":"\//] },
  },
};

/** An answer that is an error, or a command that Bash does not know. */
const REFUSED = /"errors?":|command not found|SyntaxError/g;

describe.each(Object.entries(PAGES))('the commands of %s', (page, { refusals, printed }) => {
  it('print what the page promises when they are pasted one after the other', async () => {
    shell = openShell();
    const blocks = commandsOf(page);
    expect([...new Set(blocks.map(({ heading }) => heading))]).toEqual(Object.keys(printed));
    for (const [heading, expected] of Object.entries(printed)) {
      const start = shell.output().length;
      const output = () => shell.output().slice(start);
      const isComplete = () => Promise.resolve(expected.every((pattern) => pattern.test(output())));
      for (const { code } of blocks.filter((block) => block.heading === heading)) {
        // What runs in the background has to print before it is ended.
        if (code.startsWith('kill ')) await until(isComplete).catch(() => undefined);
        const before = await countSubscriptions();
        await shell.run(toCommand(code));
        if (code.trimEnd().endsWith('&')) await until(async () => (await countSubscriptions()) === before + 1);
      }
      for (const pattern of expected) expect(output()).toMatch(pattern);
    }
    expect([page, shell.output().match(REFUSED) ?? []]).toEqual([page, Array<string>(refusals).fill('"error":')]);
  });
});
