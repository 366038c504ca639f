/** Connections by TLS: whose certificate is accepted, and when a session is resumed. */
import { createSecureContext } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSelfSigned } from '@trestle/service/testing/test-authority';
import { Fixtures, failPost, post, respond } from './raw-server.ts';

const fixtures = new Fixtures();
afterEach(() => fixtures.close());

const trust = (ca: string) => {
  const context = createSecureContext({ ca });
  return () => context;
};

describe('a connection', () => {
  it('speaks TLS, verifies the certificate, and resumes the session', async () => {
    const { cert, key } = await createSelfSigned();
    const large = 'x'.repeat(300_000);
    const server = await fixtures.listen(
      (socket, { index }) => socket.write(respond(index % 2 === 0 ? 'ok' : large, index === 1 ? 'Connection: close\r\n' : '')),
      { cert, key },
    );
    const client = fixtures.connect(server, { tls: trust(cert) });
    for (let i = 0; i < 4; i++) expect((await post(client)).body).toBe(i % 2 === 0 ? 'ok' : large);
    expect(server.sockets).toHaveLength(2);
    expect((server.sockets[1] as unknown as { isSessionReused: () => boolean }).isSessionReused()).toBe(true);
    expect(await failPost(fixtures.connect(server))).toBe('UNREACHABLE, unsent');
    expect(await failPost(fixtures.connect({ origin: server.origin.replace('localhost', '127.0.0.1') }, { tls: trust(cert) }))).toBe(
      'UNREACHABLE, unsent',
    );
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('is refused every time when the certificate has another name (%s)', async (maxVersion) => {
    const { cert, key } = await createSelfSigned('elsewhere.example');
    const server = await fixtures.listen((socket) => socket.write(respond('ok')), { cert, key, maxVersion });
    const client = fixtures.connect(server, { tls: trust(cert) });
    for (let i = 0; i < 3; i++) expect(await failPost(client)).toBe('UNREACHABLE, unsent');
  });
});
