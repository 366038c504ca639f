import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { assert, asyncProperty, constantFrom, property, record, string, tuple, array, uint8Array } from 'fast-check';
import { parseFields, parseRequestLine, toHeadShape } from './request-head.ts';

const shape = toHeadShape({ post: '/graphql', get: /^\/users\/[^/?]+(?:\?|$)/ }, 16 * 1024);
const GET_LINE = 'GET /users/a%20b?fields=id,name HTTP/1.1\r\n';
const LINE = 'POST /graphql HTTP/1.1\r\n';
const NEEDED = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n';
const parse = (text: string) => parseHead(Buffer.from(text, 'latin1'));

function parseHead(bytes: Buffer) {
  const line = parseRequestLine(bytes, shape);
  const fields = line && parseFields(bytes, line, shape);
  return fields && { line, fields };
}

describe('parseHead', () => {
  it('returns names as sent, values without surrounding white space, and the lengths of head and body', () => {
    const text = `${LINE}HOST: a\r\nX-Empty:\r\nX-Padded: \t b c \t\r\ncontent-type: application/json; charset=utf-8\r\nContent-Length: 17\r\n\r\n`;
    expect(parse(`${text}{"query":"{ a }"}`)).toEqual({
      line: { method: 'POST', url: '/graphql', length: LINE.length },
      fields: {
        rawHeaders: [
          ...['HOST', 'a', 'X-Empty', '', 'X-Padded', 'b c'],
          ...['content-type', 'application/json; charset=utf-8', 'Content-Length', '17'],
        ],
        headers: { host: 'a', 'x-empty': '', 'x-padded': 'b c', 'content-type': 'application/json; charset=utf-8', 'content-length': '17' },
        length: text.length - LINE.length,
        bodyLength: 17,
      },
    });
  });

  it('returns the target of a GET as it was sent, and no body', () => {
    expect(parse(`${GET_LINE}Host: a\r\nAccept: */*\r\n\r\n`)).toEqual({
      line: { method: 'GET', url: '/users/a%20b?fields=id,name', length: GET_LINE.length },
      fields: {
        ...{ rawHeaders: ['Host', 'a', 'Accept', '*/*'], headers: { host: 'a', accept: '*/*' } },
        ...{ length: 'Host: a\r\nAccept: */*\r\n\r\n'.length, bodyLength: 0 },
      },
    });
  });

  it.each([
    ['a target that the pattern does not match', 'GET /users/a/posts HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HEAD', 'HEAD /users/a HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an absolute URI', 'GET http://a/users/a HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['HTTP/1.0', 'GET /users/a HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['a fragment', 'GET /users/a#b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a quotation mark', 'GET /users/"a" HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a backslash', 'GET /users/a\\b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a character beyond ASCII', 'GET /users/\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['two spaces', 'GET  /users/a HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space behind the target', 'GET /users/a  HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a bare LF', 'GET /users/a HTTP/1.1\nHost: a\r\n\r\n'],
    ['a target of more than half of the limit', `GET /users/${'a'.repeat(8192)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a length', 'GET /users/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
    ['a length of JSON', `GET /users/a HTTP/1.1\r\n${NEEDED}\r\n`],
    ['a transfer coding', 'GET /users/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['no Host', 'GET /users/a HTTP/1.1\r\nAccept: */*\r\n\r\n'],
    ['a client that accepts event streams', 'GET /users/a HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n'],
    ['Connection: close', 'GET /users/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ])('leaves a GET with %s to Node.js', (_, text) => {
    expect(parse(text)).toBeUndefined();
  });

  it.each([
    ['another method', `PUT /graphql HTTP/1.1\r\n${NEEDED}\r\n`],
    ['another path', `POST /graphql/ HTTP/1.1\r\n${NEEDED}\r\n`],
    ['a query', `POST /graphql?a=b HTTP/1.1\r\n${NEEDED}\r\n`],
    ['an absolute URI', `POST http://a/graphql HTTP/1.1\r\n${NEEDED}\r\n`],
    ['HTTP/1.0', `POST /graphql HTTP/1.0\r\n${NEEDED}\r\n`],
    ['an empty line before the request', `\r\n${LINE}${NEEDED}\r\n`],
    ['two spaces in the request line', `POST  /graphql HTTP/1.1\r\n${NEEDED}\r\n`],
    ['a bare LF after the request line', `POST /graphql HTTP/1.1\n${NEEDED}\r\n`],
    ['a bare LF after a header', `${LINE}X-A: b\n${NEEDED}\r\n`],
    ['a bare LF as the empty line', `${LINE}${NEEDED}\n`],
    ['a bare CR in a value', `${LINE}X-A: b\rc\r\n${NEEDED}\r\n`],
    ['a bare CR as the empty line', `${LINE}${NEEDED}\r{}`],
    ['a folded header', `${LINE}X-A: b\r\n c\r\n${NEEDED}\r\n`],
    ['a space before the colon', `${LINE}X-A : b\r\n${NEEDED}\r\n`],
    ['a line without a colon', `${LINE}X-A\r\n${NEEDED}\r\n`],
    ['an empty name', `${LINE}: b\r\n${NEEDED}\r\n`],
    ['a control character in a value', `${LINE}X-A: a\u0001\r\n${NEEDED}\r\n`],
    ['a null in a value', `${LINE}X-A: a\0\r\n${NEEDED}\r\n`],
    ['a character beyond ASCII in a value', `${LINE}X-A: \u00e9\r\n${NEEDED}\r\n`],
    ['a character beyond ASCII in a name', `${LINE}X-\u00e9: a\r\n${NEEDED}\r\n`],
    ['Transfer-Encoding', `${LINE}${NEEDED}Transfer-Encoding: chunked\r\n\r\n`],
    ['TRANSFER-ENCODING', `${LINE}${NEEDED}TRANSFER-ENCODING: identity\r\n\r\n`],
    ['Content-Length twice', `${LINE}${NEEDED}content-length: 2\r\n\r\n`],
    ['a list of lengths', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: 2, 2\r\n\r\n`],
    ['a signed length', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: +2\r\n\r\n`],
    ['a length with leading zeros', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: 02\r\n\r\n`],
    ['a hexadecimal length', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: 0x2\r\n\r\n`],
    ['a length of zero', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n`],
    ['a length of ten million', `${LINE}Host: a\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n`],
    ['no length', `${LINE}Host: a\r\nContent-Type: application/json\r\n\r\n`],
    ['no Host', `${LINE}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n`],
    ['two hosts', `${LINE}${NEEDED}host: b\r\n\r\n`],
    ['two credentials', `${LINE}${NEEDED}Authorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n`],
    ['a name that every object has', `${LINE}${NEEDED}__proto__: a\r\n\r\n`],
    ['Expect', `${LINE}${NEEDED}Expect: 100-continue\r\n\r\n`],
    ['Upgrade', `${LINE}${NEEDED}Connection: keep-alive\r\nUpgrade: websocket\r\n\r\n`],
    ['Connection: close', `${LINE}${NEEDED}Connection: close\r\n\r\n`],
    ['Connection: upgrade', `${LINE}${NEEDED}Connection: keep-alive, upgrade\r\n\r\n`],
    ['Trailer', `${LINE}${NEEDED}Trailer: X-A\r\n\r\n`],
    ['Content-Encoding', `${LINE}${NEEDED}Content-Encoding: gzip\r\n\r\n`],
    ['another media type', `${LINE}Host: a\r\nContent-Type: application/jsonp\r\nContent-Length: 2\r\n\r\n`],
    ['a client that accepts event streams', `${LINE}${NEEDED}Accept: text/event-stream\r\n\r\n`],
    ['a client that accepts deferred parts', `${LINE}${NEEDED}Accept: multipart/mixed, application/json\r\n\r\n`],
    ['more than 64 headers', `${LINE}${NEEDED}${Array.from({ length: 64 }, (_, i) => `X-${String(i)}: a\r\n`).join('')}\r\n`],
    ['a head of more than half of the limit', `${LINE}${NEEDED}X-A: ${'a'.repeat(8192)}\r\n\r\n`],
  ])('leaves %s to Node.js', (_, text) => {
    expect(parse(`${text}{}`)).toBeUndefined();
  });

  it('returns nothing for any part of a head', () => {
    const text = `${LINE}${NEEDED}\r\n`;
    for (let length = 0; length < text.length; length++) expect(parse(text.slice(0, length))).toBeUndefined();
    expect(parse(text)).toMatchObject({ fields: { length: text.length - LINE.length } });
  });

  it('never throws, whatever the bytes', () => {
    const bytes = uint8Array({ maxLength: 200 });
    assert(
      property(constantFrom('', LINE, LINE + NEEDED, 'GET /users/', GET_LINE), bytes, (before, random) => {
        parseHead(Buffer.concat([Buffer.from(before), random]));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('a head that parseHead accepts', () => {
  let seen: IncomingMessage | undefined;
  const server = createServer((request, response) => {
    seen = request;
    response.end();
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('has the same headers for the parser of Node.js, however names and values are made', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    const name = string({ minLength: 1, maxLength: 12, unit: constantFrom(...'abcXYZ019-_.!~|'.split('')) });
    const value = string({ maxLength: 20, unit: constantFrom(...'abc \t;,="\'()\\/:%@{}~'.split('')) });
    const headers = array(tuple(name, value), { maxLength: 8 });
    await assert(
      asyncProperty(record({ headers, space: constantFrom('', ' ', '\t', '  ') }), async ({ headers: given, space }) => {
        const text = `${LINE}${NEEDED}${given.map(([n, v]) => `${n}:${space}${v}\r\n`).join('')}\r\n`;
        const head = parse(text);
        if (!head) return;
        seen = undefined;
        socket.write(`${text}{}`);
        await once(socket, 'data');
        const { rawHeaders, headers: own } = seen as unknown as IncomingMessage;
        expect(head.fields).toMatchObject({ rawHeaders, headers: own });
      }),
      { numRuns: 500 },
    );
    socket.destroy();
  });
});
