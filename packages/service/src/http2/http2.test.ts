/** The limits of streams. What else clients of HTTP/2 see is in tls.test.ts. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  connect,
  constants,
} from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type ServiceOptions, startService } from '../service.ts';
import { createSelfSigned } from '../testing/test-authority.ts';

/** With an empty SETTINGS. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

/** A GET of https://localhost/. */
const GET = Buffer.from('\0\0\x0e\x01\x05\0\0\0\x01\x82\x87\x84\x41\x09localhost', 'latin1');

/** Starts a service over TLS, with limits and a handler. */
async function start(options: Pick<ServiceOptions, 'handle' | 'limits'>) {
  const tls = await createSelfSigned();
  const probes = createProbes({ isReady: () => true });
  const log = createLog({ service: 'test', level: 'silent' });
  return { tls, probes, service: await startService({ log, port: 0, host: '127.0.0.1', tls, probes, ...options }) };
}

it('lets an address begin 128 streams at once on its first connection, and 32 on each further one', async () => {
  const { tls, service } = await start({
    handle: (_, response) => response.end(),
  });
  const sessions: ClientHttp2Session[] = [];
  const open = async () => {
    const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert });
    sessions.push(session);
    await once(session, 'connect');
    // A PING is acknowledged after the settings that were sent before.
    await new Promise((resolve) => session.ping(resolve));
    return session.remoteSettings.maxConcurrentStreams;
  };
  try {
    expect([await open(), await open(), await open()]).toEqual([128, 32, 32]);
  } finally {
    for (const session of sessions) session.destroy();
    await service.stop();
  }
});

/** What handlers ask a response that stays open. */
const stateOf = ({ destroyed, closed, writableNeedDrain }: ServerResponse) => ({ destroyed, closed, writableNeedDrain });

/** Calls back with the response to a client that reads nothing of it, while more waits than the client has given leave to send. */
async function withWaiting(act: (response: ServerResponse, stream: ClientHttp2Stream) => Promise<void>): Promise<void> {
  const responses: ServerResponse[] = [];
  const { tls, service } = await start({
    handle: (_, response) => responses.push(response),
  });
  const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert });
  try {
    const stream = session.request({ ':path': '/' }).on('error', () => undefined);
    while (responses.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [response] = responses as [ServerResponse];
    expect(stateOf(response)).toEqual({ destroyed: false, closed: false, writableNeedDrain: false });
    response.write('x'.repeat(1_000_000));
    expect(stateOf(response)).toEqual({ destroyed: false, closed: false, writableNeedDrain: true });
    await act(response, stream);
  } finally {
    session.destroy();
    await service.stop();
  }
}

it.each([
  ['CANCEL', constants.NGHTTP2_CANCEL],
  ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
])('closes a response whose client resets the stream with %s, though bytes wait to be sent', (_, code) =>
  withWaiting(async (response, stream) => {
    const closed = once(response, 'close');
    stream.close(code);
    await closed;
    expect(stateOf(response)).toEqual({ destroyed: true, closed: true, writableNeedDrain: false });
  }),
);

it('does not cut a response of HTTP/2 whose client goes on to read it, however slowly', async () => {
  const { tls, service } = await start({
    // Less time than the client takes for the response, and more than twice what it takes for a quarter of it.
    limits: { writeTimeoutMs: 2500 },
    handle: (_, response) => response.end('x'.repeat(65_000)),
  });
  const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert, settings: { initialWindowSize: 4000 } });
  let received = 0;
  const stream = session.request({ ':path': '/' }).on('error', () => undefined);
  const startedAt = performance.now();
  // Fifteen bytes a millisecond, also after the machine had no time for this test.
  const reading = setInterval(() => {
    const due = Math.floor((performance.now() - startedAt) * 15) - received;
    received += (stream.read(Math.min(due, stream.readableLength)) as Buffer | null)?.length ?? 0;
  }, 20);
  try {
    await once(stream, 'close', { signal: AbortSignal.timeout(15_000) });
    expect([received, stream.rstCode]).toEqual([65_000, constants.NGHTTP2_NO_ERROR]);
  } finally {
    clearInterval(reading);
    session.destroy();
    await service.stop();
  }
});

describe('an HTTP/2 connection whose client gives leave to send nothing', () => {
  it.each<[number, string, OutgoingHttpHeaders, boolean]>([
    [501, 'a method that is not known', { ':method': 'UNKNOWN' }, true],
    [431, 'headers beyond the limit', { large: 'x'.repeat(17_000) }, true],
    [400, 'an expectation', { ':method': 'POST', expect: 'x' }, true],
    [408, 'a body that stops', { ':method': 'POST' }, false],
  ])('is closed after a refusal with %d: %s', async (status, _, headers, endStream) => {
    const { tls, service } = await start({
      limits: { keepAliveTimeoutMs: 100, headersTimeoutMs: 1000, writeTimeoutMs: 300, bodyGraceMs: 300, requestTimeoutMs: 1000 },
      handle: (request) => request.resume(),
    });
    const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert, settings: { initialWindowSize: 0 } });
    try {
      const stream = session.request({ ':path': '/', ...headers }, { endStream }).on('error', () => undefined);
      if (!endStream) stream.write('x');
      const [response] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      expect(response[':status']).toBe(status);
      await once(session, 'close', { signal: AbortSignal.timeout(10_000) });
    } finally {
      session.destroy();
      await service.stop();
    }
  });
});

describe('an HTTP/2 connection whose client never closes its side', () => {
  /** RST_STREAM of the stream 1. Node.js reads nothing further after thousands of them. */
  const RESET = Buffer.from('\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08', 'latin1');
  const PING = Buffer.from('\0\0\x08\x06\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1');
  /** HEADERS with END_STREAM and without END_HEADERS: a method that is taken from the static table. */
  const HEADERS_WITHOUT_END = Buffer.from('\0\0\x01\x01\x01\0\0\0\x01\x82', 'latin1');

  /** CONTINUATION without a field and without END_HEADERS. */
  const CONTINUATION = Buffer.from('\0\0\0\x09\0\0\0\0\x01', 'latin1');

  /** The beginning of HEADERS of the stream 3: of a field, the length of its name. */
  const SLOW_HEADERS = Buffer.from('\0\x40\0\x01\x05\0\0\0\x03\0\x7e', 'latin1');

  it.each([
    ['its client sends no request', PREFACE, PING],
    ['the headers of its first request never end', Buffer.concat([PREFACE, HEADERS_WITHOUT_END]), CONTINUATION],
    ['the headers of a later request never end', Buffer.concat([PREFACE, GET, SLOW_HEADERS]), Buffer.from('x')],
    ['it resets a stream again and again', Buffer.concat([PREFACE, GET, ...Array.from({ length: 5000 }, () => RESET)]), RESET],
  ])('is closed soon after the time limit for headers when %s', async (_, sent, further) => {
    const { tls, service } = await start({
      limits: { headersTimeoutMs: 200 },
      handle: (_request, response) => response.end(),
    });
    const options = { port: service.port, servername: 'localhost', ca: tls.cert, ALPNProtocols: ['h2'], allowHalfOpen: true };
    const socket = connectTls(options).resume();
    socket.on('error', () => undefined).once('secureConnect', () => socket.write(sent));
    const frames = setInterval(() => socket.write(further), 300);
    try {
      // What is sent to a connection that the server has closed is answered with RST.
      await once(socket, 'error', { signal: AbortSignal.timeout(10_000) });
    } finally {
      clearInterval(frames);
      socket.destroy();
      await service.stop();
    }
  });
});

it('keeps an idle HTTP/2 connection for the time limit of idle connections, beyond that for headers', async () => {
  const limits = { headersTimeoutMs: 100, keepAliveTimeoutMs: 1000 };
  const { tls, service } = await start({ limits, handle: (_, response) => response.end() });
  const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert });
  try {
    await once(session.request({ ':path': '/' }).resume(), 'close');
    const idleSince = performance.now();
    await once(session, 'close', { signal: AbortSignal.timeout(10_000) });
    expect(performance.now() - idleSince).toBeGreaterThan(900);
  } finally {
    session.destroy();
    await service.stop();
  }
});

describe('an HTTP/2 connection that floods the server while a request is open (RFC 9113 §10.5)', () => {
  const POST = Buffer.from('\0\0\x0e\x01\x04\0\0\0\x01\x83\x87\x84\x41\x09localhost', 'latin1');
  const DATA = Buffer.from('\0\0\x01\0\0\0\0\0\x01x', 'latin1');
  const GOAWAY = Buffer.from('\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1');

  it.each([
    ['GOAWAY', GET, GOAWAY, 20],
    ['DATA of one byte', POST, DATA, 12_000],
  ])('is ended: %s', async (_, request, frame, count) => {
    let requests = 0;
    const { tls, probes, service } = await start({
      handle: () => requests++,
    });
    const socket = connectTls({ port: service.port, servername: 'localhost', ca: tls.cert, ALPNProtocols: ['h2'] }).resume();
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    socket.on('error', () => undefined).once('secureConnect', () => socket.write(Buffer.concat([PREFACE, request])));
    try {
      while (requests === 0) await new Promise((resolve) => setImmediate(resolve));
      socket.write(Buffer.concat(Array.from({ length: count }, () => frame)));
      await closed;
      expect(await probes.metrics.getSingleMetricAsString('trestle_connections_cut_total')).toContain('frames"} 1');
    } finally {
      socket.destroy();
      await service.stop();
    }
  });
});

it('does not take many requests with short bodies on one connection for a flood', async () => {
  const { tls, service } = await start({
    handle: (request, response) => {
      request.resume().once('end', () => response.end());
    },
  });
  const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert });
  await once(session, 'connect');
  let left = 12_000;
  const sendAll = async () => {
    while (left-- > 0) {
      const stream = session.request({ ':path': '/', ':method': 'POST' });
      stream.resume().end('x');
      await once(stream, 'close');
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) throw new Error(`The stream was reset with ${String(stream.rstCode)}.`);
    }
  };
  try {
    await Promise.all(Array.from({ length: 100 }, sendAll));
  } finally {
    session.destroy();
    await service.stop();
  }
});
