/** Every exchange on a connection takes place twice: with the lean reader, and with the parser of Node.js alone. */
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { BODY, BOTH, LAST, exchange, get, open, post, start } from './test-exchange.ts';

describe('a connection', () => {
  it('gives the same responses wherever its requests are cut', async () => {
    const [lean, node] = [await start(true), await start(false)];
    const text = post('', '"a"') + get() + post('', '"b"');
    const expected = await exchange(node.port, [text, LAST]);
    for (let cut = 1; cut < text.length; cut += 1)
      expect(await exchange(lean.port, [text.slice(0, cut), text.slice(cut), LAST])).toBe(expected);
    expect(new Set(lean.lean)).toEqual(new Set([true, false]));
  }, 30_000);

  it.each([
    ['pipelines', [post('', '"a"') + post('', '"b"') + LAST]],
    ['pipelines while a response is awaited', [post('X-Case: late\r\n'), post('', '"b"') + LAST]],
    [
      'sends half a request while a response is awaited',
      [post('X-Case: late\r\n') + post('', '"b"').slice(0, 30), post('', '"b"').slice(30), LAST],
    ],
    ['changes to another method', [post(), 'GET /graphql HTTP/1.1\r\nHost: a\r\n\r\n', LAST]],
    ['pipelines GETs', [get() + get('', '/reads/b') + LAST]],
    ['sends a GET with a body', [get('Content-Length: 27\r\n') + get('', '/a').slice(0, 27), LAST]],
    ['sends a GET with chunks', [`${get('Transfer-Encoding: chunked\r\n')}0\r\n\r\n`, LAST]],
    ['sends bytes behind a GET', [`${get()}abc`]],
    ['sends its body apart from the head', [post().slice(0, -BODY.length), BODY, LAST]],
    ['smuggles by two lengths', [post(), post('Content-Length: 5\r\n'), LAST]],
    ['smuggles by a length and chunks', [post(), `${post('Transfer-Encoding: chunked\r\n')}0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n`]],
    ['smuggles by a coding with a vertical tab', [post('Transfer-Encoding:\u000bchunked\r\n'), LAST]],
    ['smuggles by a space before the colon', [post('Transfer-Encoding : chunked\r\n'), LAST]],
    [
      'smuggles by a folded length',
      ['POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length:\r\n 2\r\n\r\n{}', LAST],
    ],
    ['smuggles by a bare LF', [post('X-A: b\nContent-Length: 3\r\n'), LAST]],
    ['smuggles by a bare CR', [post('X-A: b\rTransfer-Encoding: chunked\r\n'), LAST]],
    ['sends a body that is longer than its length', [`${post()}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`, LAST]],
    ['names two hosts', [post('Host: b\r\n')]],
    ['names no host', [post().replace('Host: a\r\n', '')]],
    ['expects 100-continue', [post('Expect: 100-continue\r\n').slice(0, -BODY.length), BODY, LAST]],
    ['sends an absolute URI', [post().replace('/graphql', 'http://b/graphql'), LAST]],
    ['asks for an upgrade', [post('Connection: upgrade\r\nUpgrade: h2c\r\n'), LAST]],
    ['uses HTTP/1.0', [post().replace('HTTP/1.1', 'HTTP/1.0')]],
    ['uses HTTP/1.2', [post().replace('HTTP/1.1', 'HTTP/1.2')]],
    ['sends an empty line first', [`\r\n${post()}`, LAST]],
    ['speaks no HTTP', [post(), '\x16\x03\x01\x02\x00\x01']],
    ['sends headers of more than 16 KiB', [post(`X-A: ${'a'.repeat(20_000)}\r\n`)]],
  ] as [string, string[]][])('that %s gets what Node.js answers', async (_, parts) => {
    const [lean, node] = [await start(true), await start(false)];
    expect(await exchange(lean.port, parts)).toBe(await exchange(node.port, parts));
    expect(lean.lean).toHaveLength(node.lean.length);
  });

  it.each(BOTH)('on which nothing arrives is refused with 408: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { headersTimeoutMs: 200 });
    const socket = open(port);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
    await once(socket, 'close');
  });

  it.each(BOTH)('is closed without a response when it is idle: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { keepAliveTimeoutMs: 300 });
    const answer = await exchange(port, [post()]);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it.each(BOTH)('counts for the limit of its address until it is closed: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { maxConnectionsPerAddress: 2 });
    const first = open(port);
    first.write(post());
    await once(first, 'data');
    const second = open(port);
    second.write(post());
    await once(second, 'data');
    await once(open(port), 'close');
    first.destroy();
    for (;;) {
      const next = open(port);
      next.write(post());
      if (await Promise.race([once(next, 'data').then(() => true), once(next, 'close').then(() => false)])) return;
    }
  });

  it.each(BOTH)(
    'ends with its next response once the server is about to stop; an idle one ends when the server stops: %s',
    async (_, isLeanRead) => {
      const { port, service } = await start(isLeanRead);
      const [idle, used] = [open(port), open(port)];
      for (const socket of [idle, used]) {
        socket.write(post());
        await once(socket, 'data');
      }
      await service.announceStop();
      used.write(post());
      const [answer] = (await once(used, 'data')) as [Buffer];
      expect(answer.toString()).toContain('Connection: close');
      await once(used, 'close');
      const stopped = service.stop();
      await once(idle, 'close');
      await stopped;
    },
  );

  it.each(BOTH)('gets the response to its request in flight while the server stops: %s', async (_, isLeanRead) => {
    const { port, service, lean } = await start(isLeanRead);
    const socket = open(port);
    socket.write(post('X-Case: late\r\n'));
    while (lean.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = service.stop();
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/);
    await stopped;
  });
});
