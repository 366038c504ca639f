/** Thousands of random HTTP/1.1 requests over raw sockets, ill-framed ones among them (RFC 9112). */
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { checkRefusal } from '../wire/envelope.ts';
import { countStatuses, inParallel } from '../wire/http.ts';
import { readReplies } from '../wire/http-reply.ts';
import type { Random } from '../wire/random.ts';
import { BODIES, BROKEN_VALUES, COMMON_METHODS, FRAMINGS, METHODS, NAMES, TARGETS, VALUES, VERSIONS } from './http-words.ts';

function makeRequest(random: Random): Buffer {
  const [framing, bytes] = random.pick(random.chance(0.6) ? FRAMINGS.slice(0, 3) : FRAMINGS)(random.pick(BODIES), random);
  const lines = Array.from(
    { length: random.upTo(3) },
    () => `${random.pick(NAMES)}${random.chance(0.02) ? ' ' : ''}: ${random.pick(random.chance(0.99) ? VALUES : BROKEN_VALUES)}`,
  );
  if (random.chance(0.95))
    lines.unshift(
      `Host: ${random.chance(0.9) ? 'localhost' : random.pick(['localhost:3000', '', 'a b', 'evil.example', '[::1]', 'a,b', '@'])}`,
    );
  if (random.chance(0.5)) lines.push('Content-Type: application/json');
  const end = random.chance(0.97) ? '\r\n' : random.pick(['\n', '\r', '\r\r\n']);
  const version = random.chance(0.9) ? 'HTTP/1.1' : random.pick(VERSIONS);
  const text =
    [`${random.pick(random.chance(0.8) ? COMMON_METHODS : METHODS)} ${random.pick(TARGETS)} ${version}`, ...lines, ...framing, '', ''].join(
      end,
    ) + bytes;
  return Buffer.from(text, 'latin1');
}

/** Flips some of its bytes. */
function damage(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let n = random.upTo(4); n > 0; n--) copy[random.upTo(copy.length - 1)] = random.upTo(255);
  return random.chance(0.2) ? copy.subarray(0, random.upTo(copy.length)) : copy;
}

/** How long a connection may stay open after the client has sent all and said so. */
const CLOSE_MS = 10_000;
const ANSWER_MS = 1000;

/** Of several requests on a connection only the first one's method is certain. */
const isHeadRequest = (bytes: Buffer) => () => bytes.subarray(0, 5).toString() === 'HEAD ';

async function fuzz(field: Field, target: ServiceName): Promise<string> {
  const { random, connections, addresses } = field;
  const count = scaled(field, 5000);
  const requests = Array.from({ length: count }, () => {
    const whole = Buffer.concat(Array.from({ length: random.chance(0.15) ? 1 + random.upTo(5) : 1 }, () => makeRequest(random)));
    return random.chance(0.1) ? damage(whole, random) : whole;
  });
  const hung: string[] = [];
  const statuses: { status: number }[] = [];
  await inParallel(count, 24, async (n) => {
    const bytes = requests[n] as Buffer;
    const connection = await connections.open(addresses[target]);
    connection.socket.write(bytes);
    // Node gives up what it has begun when the client says early that it has sent all.
    await connection.until((received) => readReplies(received, isHeadRequest(bytes)).some(({ isWhole }) => isWhole), ANSWER_MS);
    connection.socket.end();
    await connection.until(() => false, CLOSE_MS);
    const about = JSON.stringify(bytes.toString('latin1').slice(0, 400));
    if (!connection.isClosed()) {
      connection.socket.destroy();
      // A stream of events is one that stays open.
      if (!/text\/event-stream|multipart\/mixed/.test(connection.received().toString('latin1', 0, 1000))) hung.push(about);
    }
    const [first] = readReplies(connection.received(), isHeadRequest(bytes));
    statuses.push({ status: first?.status ?? 0 });
    if (first) checkRefusal(first, about);
  });
  demand(hung.length === 0, `${hung.length} connections stayed open for ${CLOSE_MS / 1000} s, the first: ${hung[0] ?? ''}`);
  return `${count} requests: ${countStatuses(statuses)}`;
}

/** The second request hides in the first one's body: it must never be answered. */
async function smuggle({ connections, addresses }: Field, target: ServiceName): Promise<string> {
  const hidden = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Hidden: 1\r\n\r\n';
  const path = target === 'gateway' ? '/graphql' : '/v1/auth/login';
  const forms = [
    `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding:\r\n chunked\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
    `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\n\r\n0\n\n${hidden}`,
    `Transfer-Encoding: chunked\r\n\r\n0;\n${hidden}\r\n0\r\n\r\n`,
    `X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    `Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ];
  for (const form of forms) {
    const connection = await connections.open(addresses[target]);
    connection.socket.end(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${form}`);
    await connection.until(() => false, CLOSE_MS);
    const text = connection.received().toString('latin1');
    demand(!text.includes('"live"'), `the hidden request was answered: ${JSON.stringify(form.slice(0, 120))}`);
  }
  return `${forms.length} forms of smuggling, none answered`;
}

const TARGETED = ['rest-bridge', 'gateway'] as const;
export const HTTP_ATTACKS: readonly Attack[] = [
  ...TARGETED.map((target): Attack => ({
    name: `5,000 random HTTP requests at ${target}`,
    target,
    family: 'HTTP',
    clause: 'Never a 5xx but 501, 503, 505; never a hang; one envelope without internal details (spec §7.1)',
    isShort: true,
    run: (field) => fuzz(field, target),
  })),
  ...TARGETED.map((target): Attack => ({
    name: `request smuggling at ${target}`,
    target,
    family: 'HTTP',
    clause: 'RFC 9112 §6.3, §11.2: a message of unclear length ends the connection',
    isShort: true,
    run: (field) => smuggle(field, target),
  })),
];
