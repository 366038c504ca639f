/** Clients that stop in the middle of an upload, or send it too slowly, through every transport (RFC 9110 §15.5.9). */
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { toWebm } from '../../stack/clients/multipart.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

const SIZE = 1_000_000;
const FILE = toWebm(SIZE);
const SENT = 300_000;
/** The most files that a process receives at once from one account. */
const SLOTS_OF_ACCOUNT = 8;
/** What is sent in a second by a client that is too slow; the lowest rate is 240 bytes. */
const TRICKLE = { bytes: 10, everyMs: 100 };
/** The time of grace is 1 s. The bound leaves room for a busy machine; without a limit the client would wait for 15 min. */
const BOUND_MS = 15_000;

let stack: Stack;
let ada: Account;
let bob: Account;
beforeAll(async () => {
  stack = await startStack({ env: { BODY_GRACE_MS: '1000' } });
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
});
afterAll(() => stack.stop());

/** What is sent before and behind the file, and where to. */
interface Target {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly before: string;
  readonly after: string;
}

const UPLOAD = 'mutation Upload($file: Upload!) { uploadVideo(title: "Slow", file: $file) { id } }';
const part = (name: string, content: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const FILE_HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: video/webm\r\n\r\n';
const form = (fields: string) => ({ before: fields + FILE_HEAD, after: '\r\n--b--\r\n' });
const FORM_TYPE = 'multipart/form-data; boundary=b';

const TARGETS: Readonly<Record<string, (owner: Account) => Promise<Target>>> = {
  'a raw body': ({ token }) =>
    Promise.resolve({
      url: `${stack.rest}/v1/videos?title=Slow`,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'video/webm' },
      before: '',
      after: '',
    }),
  'a form': ({ token }) =>
    Promise.resolve({
      url: `${stack.rest}/v1/videos`,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': FORM_TYPE },
      ...form(part('title', 'Slow')),
    }),
  'a tus PATCH': async ({ token }) => {
    const { headers } = await stack.call('POST', '/v1/uploads', { token, body: { title: 'Slow', size: SIZE } });
    return {
      url: `${stack.rest}${String(headers.get('location'))}`,
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/offset+octet-stream',
        'tus-resumable': '1.0.0',
        'upload-offset': '0',
      },
      before: '',
      after: '',
    };
  },
  'a GraphQL multipart request': ({ token }) =>
    Promise.resolve({
      url: `${stack.gateway}/graphql`,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': FORM_TYPE },
      ...form(
        part('operations', JSON.stringify({ query: UPLOAD, variables: { file: null } })) + part('map', '{"file":["variables.file"]}'),
      ),
    }),
};

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request whose body the caller writes. */
interface Sending {
  readonly sent: ClientRequest;
  readonly answer: Promise<Answer>;
}

function open({ url, method, headers, before, after }: Target): Sending {
  const length = String(before.length + SIZE + after.length);
  const sent = request(url, { method, headers: { ...headers, 'content-length': length }, agent: false });
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response: IncomingMessage) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body });
      }, reject);
    });
  });
  sent.write(before);
  return { sent, answer };
}

const CLIENTS: Readonly<Record<string, (sending: Sending) => void>> = {
  'stops sending': ({ sent }) => {
    sent.write(FILE.subarray(0, SENT));
  },
  'sends too slowly': ({ sent, answer }) => {
    let at = SENT;
    sent.write(FILE.subarray(0, at));
    const timer = setInterval(() => {
      sent.write(FILE.subarray(at, at + TRICKLE.bytes));
      at += TRICKLE.bytes;
    }, TRICKLE.everyMs);
    answer
      .catch(() => undefined)
      .finally(() => {
        clearInterval(timer);
      });
  },
};

const unfinished = () => readdir(join(stack.files, 'content', '.unfinished')).catch(() => []);
const videos = async () => (await readdir(join(stack.files, 'content', 'videos')).catch(() => [])).sort();

/** Waits until what arrived of an upload is stored. */
async function offsetOf(path: string): Promise<number> {
  const read = async () => Number((await stack.call('GET', path, { token: ada.token })).headers.get('upload-offset'));
  await until(async () => (await read()) >= SENT);
  return read();
}

/** Sends a whole file. */
function exchange(target: Target): Promise<Answer> {
  const { sent, answer } = open(target);
  sent.write(FILE);
  sent.end(target.after);
  return answer;
}

/** Sends a whole file. Resolves with the status of the response. */
async function send(target: Target): Promise<number> {
  return (await exchange(target)).status;
}

/** Expects 429 as spec §7.1 and §8 say. */
function expectReachedLimit({ status, headers, text: body }: Answer): void {
  const { error } = JSON.parse(body) as { error: object };
  expect([status, headers['retry-after'], error]).toEqual([
    429,
    '1',
    expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 1, limit: SLOTS_OF_ACCOUNT, remaining: 0 }),
  ]);
  expect(error).toHaveProperty('resetAt', expect.stringMatching(/^[\d-]{10}T[\d:]{8}Z$/));
}

describe('a client that', () => {
  it.each(Object.keys(CLIENTS))('%s is answered 408 through every transport, leaves nothing behind, and delays nobody', async (name) => {
    const targets = await Promise.all(Object.values(TARGETS).map((toTarget) => toTarget(ada)));
    const begin = performance.now();
    const slow = targets.map((target) => {
      const sending = open(target);
      CLIENTS[name]?.(sending);
      return sending;
    });
    // Others upload meanwhile.
    const whole = await Promise.all(Object.values(TARGETS).map(async (toTarget) => send(await toTarget(bob))));
    expect(whole).toEqual([201, 201, 204, 200]);
    const answers = await Promise.all(slow.map(({ answer }) => answer));
    expect(performance.now() - begin).toBeLessThan(BOUND_MS);
    expect(answers.map(({ status }) => status)).toEqual([408, 408, 408, 408]);
    for (const answer of answers) expect(answer.text).toContain('REQUEST_TIMEOUT');
    await until(async () => (await unfinished()).length === 0);
    const rows = await stack.sql<{ fileKey: string }>('content', `SELECT "fileKey" FROM videos WHERE "ownerId" = $1`, [ada.id]);
    expect(rows).toEqual([]);
    const named = await stack.sql<{ fileKey: string }>('content', `SELECT "fileKey" FROM videos`);
    await until(
      async () => JSON.stringify(await videos()) === JSON.stringify(named.map((row) => row.fileKey.replace('videos/', '')).sort()),
    );
    // What arrived of a resumable upload is kept, and can be continued.
    const { pathname } = new URL(targets[2]?.url ?? '');
    const offset = await offsetOf(pathname);
    expect([offset >= SENT, offset < SIZE]).toEqual([true, true]);
    await stack.call('DELETE', pathname, { token: ada.token });
  });

  it('has many unfinished uploads keeps nobody else from uploading, and gets its slots back', async () => {
    const raw = TARGETS['a raw body'] as (owner: Account) => Promise<Target>;
    const target = await raw(ada);
    // Each machine has as many slots.
    const pending = stack.nodes.flatMap(({ bridge }) =>
      Array.from({ length: SLOTS_OF_ACCOUNT }, () => open({ ...target, url: target.url.replace(stack.rest, bridge.url) })),
    );
    // Fast enough to be kept.
    const timer = setInterval(() => {
      for (const { sent } of pending) sent.write(FILE.subarray(0, 1000));
    }, TRICKLE.everyMs);
    await until(async () => (await unfinished()).length === pending.length);
    const [own, other] = [await exchange(target), await send(await raw(bob))];
    clearInterval(timer);
    expectReachedLimit(own);
    expect(other).toBe(201);
    expect((await Promise.all(pending.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(pending.map(() => 408));
    await until(async () => (await unfinished()).length === 0);
    expect(await send(await raw(ada))).toBe(201);
  });

  it('sends many parts of uploads at once gets the limit, and the time to send more', async () => {
    const cleo = await stack.createAccount('Cleo');
    const patch = TARGETS['a tus PATCH'] as (owner: Account) => Promise<Target>;
    const targets = await Promise.all(Array.from({ length: SLOTS_OF_ACCOUNT + 1 }, () => patch(cleo)));
    const last = targets.pop() as Target;
    // Each machine has as many slots, and this test one machine.
    const pending = targets.map(open);
    const timer = setInterval(() => {
      for (const { sent } of pending) sent.write(FILE.subarray(0, 1000));
    }, TRICKLE.everyMs);
    await until(async () => (await unfinished()).length >= pending.length);
    const refused = await exchange(last);
    clearInterval(timer);
    expectReachedLimit(refused);
    expect((await Promise.all(pending.map(({ answer }) => answer))).map(({ status }) => status)).toEqual(pending.map(() => 408));
    await until(async () => (await send(last)) === 204);
  });
});
