/** Every response is compared: of the lean reader, and of the parser of Node.js alone. */
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { BOTH, CASES, LARGE, LAST, exchange, get, open, ping, post, start } from './test-exchange.ts';

describe('a response', () => {
  it.each(Object.keys(CASES).filter((name) => !['large', 'chunks', 'replaced'].includes(name)))(
    'has the same bytes with both: %s',
    async (name) => {
      const [lean, node] = [await start(true), await start(false)];
      const parts = [post(`X-Case: ${name}\r\n`), LAST];
      const answer = await exchange(lean.port, parts);
      expect(answer).toBe(await exchange(node.port, parts));
      expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
      expect(lean.lean[0]).toBe(true);
    },
  );

  it.each(['length', 'list', 'empty', 'unchanged'])('to a GET has the same bytes with both: %s', async (name) => {
    const [lean, node] = [await start(true), await start(false)];
    const parts = [get(`X-Case: ${name}\r\n`), get(`X-Case: ${name}\r\n`, '/reads/b'), post(), LAST];
    const answer = await exchange(lean.port, parts);
    expect(answer).toBe(await exchange(node.port, parts));
    expect(answer.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(4);
    expect(lean.lean).toEqual([true, true, true, false]);
  });

  it('without a length is sent in chunks', async () => {
    const { port, lean } = await start(true);
    const answer = await exchange(port, [post('X-Case: chunks\r\n'), LAST]);
    expect(answer).toContain('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\u00c3\u00a9\r\n3\r\nend\r\n0\r\n\r\nHTTP/1.1 200');
    expect(lean).toEqual([true, false]);
  });

  it('closes the connection when it is sent before the handler has read the body, as that of Node.js', async () => {
    const [lean, node] = [await start(true), await start(false)];
    const answer = await exchange(lean.port, [post('X-Case: unread\r\n')]);
    expect(answer).toBe(await exchange(node.port, [post('X-Case: unread\r\n')]));
    expect(answer).toContain('connection: close');
  });

  it.each(BOTH)('is cut when its client reads no byte of it for the write timeout: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead, { writeTimeoutMs: 300 });
    const socket = open(port).pause();
    socket.write(post('X-Case: large\r\n'));
    while (closed.length === 0) await ping(port);
    expect(socket.bytesRead).toBe(0);
    socket.resume();
    await once(socket, 'close');
    expect(socket.bytesRead).toBeLessThan(LARGE.length);
  });

  it('has the header of `writeHead` in place of one of the same name that was set before', async () => {
    const { port } = await start(true);
    const answer = await exchange(port, [post('X-Case: replaced\r\n'), LAST]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nX-OWN: b\r\n/);
  });

  it.each(BOTH)('is sent whole to a client that reads late: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead);
    const socket = open(port).pause();
    socket.write(post('X-Case: large\r\n'));
    await ping(port);
    let length = 0;
    socket.on('data', (chunk: Buffer) => (length += chunk.length)).resume();
    while (closed.length === 0) await ping(port);
    expect(closed).toEqual([true]);
    while (length < LARGE.length) await once(socket, 'data');
  });

  it.each(BOTH)('closes for its handler when the client disconnects before it: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead);
    const socket = open(port);
    socket.write(post('X-Case: none\r\n'));
    await ping(port);
    socket.destroy();
    while (closed.length === 0) await ping(port);
    expect(closed).toEqual([false]);
  });
});
