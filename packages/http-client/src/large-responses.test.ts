import { afterEach, describe, expect, it } from '@jest/globals';
import type { ClientError, ClientResponse, UpstreamClient } from './upstream-client.ts';
import { Fixtures, post, respond } from './raw-server.ts';

const fixtures = new Fixtures();
afterEach(() => fixtures.close());

const LARGE = 'x'.repeat(300_000);

/** Sends a request and calls back with what it gets, in the call that it gets it in. */
function send(client: UpstreamClient, onEnd: (result: string) => void) {
  return client.send(
    { path: '/', headers: [], body: '{}' },
    {
      onResponse: ({ bytes, bodyStart, bodyEnd }: ClientResponse) => {
        onEnd(bytes.toString('latin1', bodyStart, bodyEnd));
      },
      onFailure: ({ code }: ClientError) => {
        onEnd(code);
      },
    },
  );
}

describe('large responses', () => {
  it('that arrive together are handled in different iterations of the event loop', async () => {
    const sockets: (() => void)[] = [];
    const client = await fixtures.serve((socket) => sockets.push(() => socket.write(respond(LARGE))));
    let iteration = 0;
    let isCounting = true;
    const count = () => {
      iteration++;
      if (isCounting) setImmediate(count);
    };
    setImmediate(count);
    const handled: number[] = [];
    await new Promise<void>((resolve) => {
      for (let n = 0; n < 6; n++)
        send(client, (body) => {
          expect(body).toBe(LARGE);
          handled.push(iteration);
          // Whatever else has arrived is ready before the next iteration.
          const until = performance.now() + 20;
          while (performance.now() < until);
          if (handled.length === 6) resolve();
        });
      const answer = () => {
        if (sockets.length < 6) setImmediate(answer);
        else for (const write of sockets) write();
      };
      answer();
    });
    isCounting = false;
    expect(new Set(handled).size).toBe(6);
  });

  it('are handled although the server closes the connection after them', async () => {
    const client = await fixtures.serve((socket) => socket.end(respond(LARGE, 'connection: close')));
    const bodies = await Promise.all([1, 2, 3, 4].map(async () => (await post(client)).body));
    expect(bodies).toEqual([LARGE, LARGE, LARGE, LARGE]);
  });

  it('that are aborted before their turn fail once with ABORTED, and are not handled', async () => {
    const client = await fixtures.serve((socket) => socket.write(respond(LARGE)));
    const results: string[] = [];
    const all = await new Promise<string[]>((resolve) => {
      const onEnd = (result: string) => {
        results.push(result === LARGE ? 'handled' : result);
        // The first handler aborts the others, whether their responses have arrived or not.
        if (results.length === 1) for (const request of requests) request.abort(new Error('test'));
        if (results.length === 8) setImmediate(() => setImmediate(resolve, results));
      };
      const requests = Array.from({ length: 8 }, () => send(client, onEnd));
    });
    expect(all).toEqual(['handled', ...Array.from({ length: 7 }, () => 'ABORTED')]);
    expect((await post(client)).body).toBe(LARGE);
  });
});
