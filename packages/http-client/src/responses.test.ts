/** What servers send, against real TCP servers: valid responses in every form, and what must not pass for a response. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { MAX_FIELDS, MAX_HEAD_BYTES } from './response-head.ts';
import { Fixtures, failPost, post, respond, until, writeParts } from './raw-server.ts';

const fixtures = new Fixtures();
afterEach(() => fixtures.close());

const chunked = (data: string, rest = '0\r\n\r\n') => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${data}${rest}`;

describe('a response', () => {
  it.each([
    ['with Content-Length', respond('{"a":1}', 'X-Test:  v \r\n'), '{"a":1}'],
    ['with an empty body', respond(''), ''],
    [
      'in chunks with extensions and trailer fields',
      chunked('3;x=y\r\nabc\r\n0A\r\n0123456789\r\n', '0;z\r\nX-T: 1\r\n\r\n'),
      'abc0123456789',
    ],
    ['after interim responses', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${respond('ok')}`, 'ok'],
    ['without a reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', 'ok'],
  ])('%s is the same wherever it is cut into two packets', async (_, text, body) => {
    const bytes = Buffer.from(text);
    const client = await fixtures.serve((socket, { body: cut }) =>
      writeParts(socket, [bytes.subarray(0, Number(cut)), bytes.subarray(Number(cut))]),
    );
    const cuts = Array.from({ length: bytes.length - 1 }, (__, i) => String(i + 1));
    const responses = await Promise.all(cuts.map((cut) => post(client, cut)));
    expect(responses.map((response) => ({ status: response.status, body: response.body }))).toEqual(
      cuts.map(() => ({ status: 200, body })),
    );
  });

  it('without a length ends with the connection, wherever it is cut', async () => {
    const bytes = Buffer.from('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"a":1}');
    const client = await fixtures.serve(async (socket, { body: cut }) => {
      await writeParts(socket, [bytes.subarray(0, Number(cut)), bytes.subarray(Number(cut))]);
      socket.end();
    });
    for (let cut = 1; cut < bytes.length; cut++) expect(await post(client, String(cut))).toMatchObject({ status: 200, body: '{"a":1}' });
  });

  it('arrives byte by byte', async () => {
    const client = await fixtures.serve((socket) =>
      writeParts(
        socket,
        Array.from(Buffer.from(chunked('2\r\nab\r\n3\r\n123\r\n')), (byte) => Uint8Array.of(byte)),
      ),
    );
    expect(await post(client)).toMatchObject({ status: 200, body: 'ab123' });
  });

  it('of 900 KB arrives complete, with a length, in large chunks and in many small chunks, over one connection', async () => {
    const large = 'x'.repeat(899_999) + 'y';
    const small = `3e8\r\n${'x'.repeat(1000)}\r\n`.repeat(899) + `3e8\r\n${'x'.repeat(999)}y\r\n`;
    const forms = [respond(large), chunked(`${(900_000).toString(16)}\r\n${large}\r\n`), chunked(small)];
    const connections = new Set<number>();
    const client = await fixtures.serve((socket, { connection, index }) => {
      connections.add(connection);
      socket.write(forms[index % 3] as string);
    });
    for (let i = 0; i < 6; i++) expect((await post(client)).body === large).toBe(true);
    expect(connections.size).toBe(1);
  });

  it('lends its header fields, several of one name joined', async () => {
    const client = await fixtures.serve((socket) =>
      socket.write(respond('', 'CONTENT-TYPE: application/json\r\nX-Test: a\r\nx-test:\tb\r\n')),
    );
    expect((await post(client)).headers).toEqual({ 'content-type': 'application/json', 'x-test': 'a, b', 'x-absent': undefined });
  });

  it.each([204, 304])('of status %i has no body, whatever its fields state', async (status) => {
    const client = await fixtures.serve((socket) => socket.write(`HTTP/1.1 ${String(status)} X\r\nContent-Length: 5\r\n\r\n`));
    expect(await post(client)).toMatchObject({ status, body: '' });
  });
});

const field = (text: string) => `HTTP/1.1 200 OK\r\n${text}\r\nContent-Length: 2\r\n\r\nok`;

describe('what is no response', () => {
  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n'],
    ['HTTP/2', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status above 599', 'HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n'],
    ['an unrequested change of the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['a control character in the reason phrase', 'HTTP/1.1 200 O\x00K\r\nContent-Length: 0\r\n\r\n'],
    ['lines that end with LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['a CR within a line', field('x: a\rb')],
    ['a NUL in a field', field('x: a\x00b')],
    ['a folded field', field('x: a\r\n b')],
    ['a space before the colon', field('x : a')],
    ['a field without a name', field(': a')],
    ['a field without a colon', field('x')],
    ['a Content-Length that is negative', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
    ['a Content-Length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
    ['a Content-Length in hexadecimal digits', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok'],
    ['a Content-Length without a number', 'HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok'],
    ['a Content-Length that is a list', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['two different Content-Lengths', field('Content-Length: 3')],
    ['two equal Content-Lengths', field('Content-Length: 2')],
    ['Content-Length beside chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['chunks beside Content-Length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n'],
    ['another transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunks in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a hidden transfer coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk size that is no number', chunked('xyz\r\nabc\r\n')],
    ['a chunk size that is negative', chunked('-1\r\na\r\n')],
    ['an empty chunk size', chunked('\r\nabc\r\n')],
    ['a space after the chunk size', chunked('3 \r\nabc\r\n')],
    ['a chunk that is longer than its size', chunked('2\r\nabc\r\n')],
    ['a chunk that is shorter than its size', chunked('4\r\nabc\r\n')],
    ['a chunk size that ends with LF', chunked('3\nabc\r\n')],
    ['a control character in a chunk extension', chunked('3;\x01\r\nabc\r\n')],
    ['a control character in a trailer field', chunked('', '0\r\nx: \x00\r\n\r\n')],
  ])('fails with INVALID_RESPONSE and closes the connection: %s', async (_, text) => {
    const server = await fixtures.listen((socket) => socket.write(text));
    expect(await failPost(fixtures.connect(server))).toBe('INVALID_RESPONSE, responding');
    await until(() => server.sockets[0]?.destroyed === true);
  });

  it.each([
    ['a head without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(MAX_HEAD_BYTES)}`],
    ['a head that is too long', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(MAX_HEAD_BYTES)}\r\nContent-Length: 0\r\n\r\n`],
    ['too many header fields', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(MAX_FIELDS + 1)}Content-Length: 0\r\n\r\n`],
    ['interim responses without an end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)],
    ['a body that is declared as too long', 'HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n'],
    ['a Content-Length of 15 digits', 'HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n'],
    ['a chunk that is too long', chunked('100001\r\n')],
    ['a chunk size of nine digits', chunked('000000003\r\nabc\r\n')],
    ['chunks that are too long together', chunked(`8000\r\n${'x'.repeat(0x8000)}\r\n`.repeat(33))],
    ['a body without a length that is too long', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1024 * 1024 + 1)}`],
    ['a chunk extension that is too long', chunked(`3;${'x'.repeat(300)}\r\nabc\r\n`)],
    ['trailer fields that are too long', chunked('', `0\r\n${`x: ${'y'.repeat(100)}\r\n`.repeat(100)}\r\n`)],
  ])('fails with RESPONSE_TOO_LARGE and closes the connection: %s', async (_, text) => {
    const server = await fixtures.listen((socket) => socket.write(text));
    expect(await failPost(fixtures.connect(server))).toBe('RESPONSE_TOO_LARGE, responding');
    await until(() => server.sockets[0]?.destroyed === true);
  });

  it('fails the same wherever it is cut into two packets', async () => {
    const bytes = Buffer.from(chunked('3\r\nabcd\r\n'));
    const client = await fixtures.serve((socket, { body: cut }) =>
      writeParts(socket, [bytes.subarray(0, Number(cut)), bytes.subarray(Number(cut))]),
    );
    const cuts = Array.from({ length: bytes.length - 1 }, (_, i) => String(i + 1));
    expect(await Promise.all(cuts.map((cut) => failPost(client, cut)))).toEqual(cuts.map(() => 'INVALID_RESPONSE, responding'));
  });
});
