/** Connections of HTTP/2: closes those that are idle, and all of them when the process stops. */
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TrafficLimits } from '../settings.ts';

/** An open connection of HTTP/2. */
export interface Http2Connection {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
}

/**
 * Returns the sessions of a server: `add` watches one, and closes it when it is idle; `close` starts to close all of them. Sessions that are added later
 * are closed as its phase says.
 */
export function manageSessions(limits: TrafficLimits) {
  const sessions = new Set<ServerHttp2Session>();
  let phase: 'serving' | 'leaving' | 'draining' = 'serving';
  return {
    add(connection: Http2Connection): void {
      const { session } = connection;
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
      closeIdle(connection, limits);
      if (phase === 'draining') session.close();
      else if (phase === 'leaving')
        session.once('stream', () => {
          session.close();
        });
    },
    close(next: 'leaving' | 'draining'): void {
      phase = next;
      for (const session of sessions) session.close();
    },
  };
}

/**
 * Closes a connection that has no open stream for the set time, however many other frames its client sends, and sooner one whose client does not
 * answer a PING.
 */
function closeIdle(connection: Http2Connection, { headersTimeoutMs, keepAliveTimeoutMs }: TrafficLimits): void {
  const { session, socket } = connection;
  let open = 0;
  let idleSince = performance.now();
  let limitMs = headersTimeoutMs;
  const probe = createProbe(connection);
  // One timer for all streams: a client can begin and reset thousands of them in a moment.
  const check = () => {
    const leftMs = open > 0 ? limitMs : idleSince + limitMs - performance.now();
    const isKept = leftMs > 0 && (open > 0 || probe(idleSince));
    timer = isKept ? setTimeout(check, Math.min(leftMs, headersTimeoutMs)).unref() : endConnection(connection);
  };
  let timer = setTimeout(check, limitMs).unref();
  session.once('stream', () => {
    if (session.closed) return;
    limitMs = keepAliveTimeoutMs;
    clearTimeout(timer);
    timer = setTimeout(check, Math.min(limitMs, headersTimeoutMs)).unref();
  });
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => {
      if (--open === 0) idleSince = performance.now();
    });
  });
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** The size of a PING frame. */
const PING_BYTES = 17;

/**
 * Returns a function that is called now and then while no stream is open, with the time since when: it sends a PING when bytes have arrived since the
 * last answer, and returns false when the one of the same idle time has no answer yet. A client cannot answer while it sends the headers of a
 * request, which it may never end (RFC 9113 §6.10), and Node.js reads no answer of a client that it has given up.
 */
function createProbe({ session, socket }: Http2Connection): (idleSince: number) => boolean {
  let unanswered: number | undefined;
  let knownBytes = 0;
  return (idleSince) => {
    if (session.closed || session.destroyed || socket.bytesRead === knownBytes) return true;
    if (unanswered === idleSince) return false;
    unanswered = idleSince;
    const bytesBefore = socket.bytesRead;
    session.ping((error: Error | null) => {
      if (error) return;
      unanswered = undefined;
      knownBytes = bytesBefore + PING_BYTES;
    });
    return true;
  };
}

/** How long a client has to read GOAWAY and to close its side. */
const LINGER_MS = 1000;

/**
 * Sends GOAWAY, and ends the connection after {@link LINGER_MS}: a session that is closed only waits for its client, which may never close its side,
 * read nothing, or never end the headers of a request. Returns the timer.
 */
function endConnection({ session, socket }: Http2Connection): NodeJS.Timeout {
  session.close();
  return setTimeout(() => {
    session.destroy();
    socket.destroy();
  }, LINGER_MS).unref();
}
