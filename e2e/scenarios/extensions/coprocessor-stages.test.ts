/** Stages of the coprocessor with settings of their own: server, time limit, and what happens when a call fails. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = { books: { sdl: 'type Query { title: String }', resolvers: { Query: { title: () => 'Emma' } } } };

let server: Server;
let home: string;
let federation: Federation;
/** Paths and stages, in order. */
let calls: string[];
let answer: (stage: string, response: ServerResponse) => void;
const accept = (_: string, response: ServerResponse) => {
  response.writeHead(204).end();
};
/** Answers the calls of one stage, and accepts at the others. */
const at = (stage: string, act: (response: ServerResponse) => void) => (called: string, response: ServerResponse) => {
  if (called === stage) act(response);
  else accept(called, response);
};

beforeAll(async () => {
  server = createServer((request, response) => {
    void json(request).then((body) => {
      const { stage } = body as { stage: string };
      calls.push(`${request.url ?? ''} ${stage}`);
      answer(stage, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  home = await mkdtemp(join(tmpdir(), 'trestle-stages-'));
  const file = join(home, 'trestle.yaml');
  await writeFile(
    file,
    `extensions:
  timeoutMs: 30000
  coprocessor:
    url: ${url}/all
    stages: [onRequest, onContext, onOperation]
    perStage:
      onRequest: { timeoutMs: 150, onFailure: pass }
      onContext: { url: '${url}/own', timeoutMs: 150 }
`,
  );
  federation = await startFederation(SOURCES, { args: ['--config', file] });
});
afterAll(async () => {
  await federation.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(home, { recursive: true, force: true });
});
beforeEach(() => {
  calls = [];
  answer = accept;
});

const ask = () => federation.ask('{ title }');
const WHOLE = { data: { title: 'Emma' } };
const passed = () => federation.gateway.lines.filter((line) => line.includes('the coprocessor failed, and the request goes on'));

describe('a stage of the coprocessor', () => {
  it('is called at its own URL, and others at that of all', async () => {
    expect((await ask()).body).toEqual(WHOLE);
    expect(calls).toEqual(['/all onRequest', '/own onContext', '/all onOperation']);
  });

  it.each([
    ['does not respond in time', () => undefined],
    ['responds with an error', (response: ServerResponse) => response.writeHead(500).end()],
    ['responds with what is no JSON', (response: ServerResponse) => response.end('yes')],
    ['closes the connection', (response: ServerResponse) => response.destroy()],
  ])('lets the request go on with onFailure: pass when it %s, and refuses it without', async (_, fail) => {
    const before = passed().length;
    answer = at('onRequest', fail);
    expect((await ask()).body).toEqual(WHOLE);
    await until(() => Promise.resolve(passed().length === before + 1));
    expect(JSON.parse(passed().at(-1) ?? '')).toMatchObject({ level: 'warn', extension: 'coprocessor', hook: 'onRequest' });
    answer = at('onContext', fail);
    expect((await ask()).status).toBe(503);
    expect(passed()).toHaveLength(before + 1);
  });

  it('counts each failure', async () => {
    const metrics = await (await fetch(`${federation.gateway.url}/metrics`)).text();
    expect(metrics).toContain('trestle_extension_failures_total{extension="coprocessor",hook="onRequest"} 4');
    expect(metrics).toContain('trestle_extension_failures_total{extension="coprocessor",hook="onContext"} 4');
  });

  it.each([
    ['a refusal', { refuse: { code: 'FORBIDDEN', message: 'No.' } }, 403],
    ['a misspelt answer', { reject: { code: 'FORBIDDEN' } }, 500],
  ])('refuses the request by %s, also with onFailure: pass', async (_, given, status) => {
    answer = at('onRequest', (response) => response.end(JSON.stringify(given)));
    expect((await ask()).status).toBe(status);
  });
});

describe('the start', () => {
  const COPROCESSOR = { COPROCESSOR_URL: 'http://127.0.0.1:9/', COPROCESSOR_STAGES: 'onPlan' };

  it.each([
    [
      { ...COPROCESSOR, COPROCESSOR_TIMEOUT_MS_ONREQUEST: '5' },
      'COPROCESSOR_STAGES: must name each stage that has settings of its own: onRequest',
    ],
    [{ COPROCESSOR_STAGES: 'onPlan,onRequest', COPROCESSOR_URL_ONPLAN: 'http://127.0.0.1:9/' }, 'COPROCESSOR_URL: must be set'],
    [{ ...COPROCESSOR, COPROCESSOR_ON_FAILURE_ONPLAN: 'open' }, 'COPROCESSOR_ON_FAILURE_ONPLAN: must be one of refuse, pass'],
    [{ ...COPROCESSOR, COPROCESSOR_URL_ONEVENT: 'http://127.0.0.1:9/' }, 'COPROCESSOR_URL_ONEVENT: the name of the stage must be one of'],
  ])('refuses %j', async (env, message) => {
    await expect(startFederation(SOURCES, { env })).rejects.toThrow(message);
  });

  it('refuses a stage of the file that does not exist', async () => {
    const file = join(home, 'faulty.yaml');
    await writeFile(file, 'extensions: { coprocessor: { perStage: { onEvent: { timeoutMs: 5 }, onPlan: { timeout: 5 } } } }\n');
    const started = startFederation(SOURCES, { args: ['--config', file] });
    await expect(started).rejects.toThrow('extensions.coprocessor.perStage.onEvent: must be one of onRequest');
    await expect(started).rejects.toThrow('extensions.coprocessor.perStage.onPlan.timeout: is unknown');
  });
});
