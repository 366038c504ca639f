import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createUndiciClient } from '@trestle/http-client/undici-client';
import type { ClientError, UpstreamClient } from '@trestle/http-client/upstream-client';
import { findSignatureFault } from '@trestle/http-client/verify-signature';
import { UpstreamFixture } from '../test-upstream.ts';
import { createRequestSigner } from './request-signer.ts';
import { DEFAULT_SIGNING } from './signing-settings.ts';
import { signRequests } from './signing-client.ts';

const LIMITS = { maxConnections: 1, connectTimeoutMs: 5000, timeoutMs: 5000, maxResponseBytes: 1000 };

describe('a client that signs', () => {
  const fixture = new UpstreamFixture('undici');
  const clients: UpstreamClient<Readable>[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await fixture.close();
  });

  /** Sends a body that is streamed. Resolves with the status, or with the code of the failure. */
  const send = async (service: string) => {
    const faults: (string | undefined)[] = [];
    const expected = { keys: { id: { secret: 's' } }, region: 'r', service, isBodySigned: false };
    const url = new URL(
      await fixture.listen((request, response) => {
        faults.push(findSignatureFault(request, Buffer.alloc(0), expected));
        request.resume().on('end', () => response.end());
      }),
    );
    const credentials = () => Promise.resolve({ accessKeyId: 'id', secretAccessKey: 's' });
    const signer = createRequestSigner({ ...DEFAULT_SIGNING, region: 'r', service }, credentials);
    const plain = createUndiciClient(url.origin, LIMITS);
    const client: UpstreamClient<Readable> = signRequests(plain, { signer, host: url.host, timeoutMs: 5000 });
    clients.push(client);
    const request = { path: url.pathname, headers: ['content-type', 'multipart/form-data'], body: Readable.from(['a', 'b']) };
    const outcome = await new Promise<number | string>((resolve) => {
      client.send(request, {
        onResponse: ({ status }) => {
          resolve(status);
        },
        onFailure: ({ code }: ClientError) => {
          resolve(code);
        },
      });
    });
    return { outcome, faults };
  };

  it('streams a body that is not part of the signature', async () => {
    expect(await send('vpc-lattice-svcs')).toEqual({ outcome: 200, faults: [undefined] });
  });

  it('does not send a body that is streamed where it would have to be signed', async () => {
    expect(await send('execute-api')).toEqual({ outcome: 'INVALID_REQUEST', faults: [] });
  });
});
