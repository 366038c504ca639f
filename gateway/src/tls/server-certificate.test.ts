/** Client certificates at the front, and the change of certificates of a running server. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { type ConnectionOptions, type TLSSocket, connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type Service, startService } from '@trestle/service';
import { createProbes } from '@trestle/service/probes/probes';
import { until } from '@trestle/http-client/raw-server';
import { createSubjectWriter, toDistinguishedName } from './client-subject.ts';
import { type ServerTlsSettings, readServerTls, watchServerTls } from './server-certificate.ts';
import { type Authority, type Signed, createAuthority } from '@trestle/service/testing/test-authority';
import { Folder } from './test-folder.ts';

const lines: string[] = [];
const log = createLog({ service: 'test', level: 'info' });
log.setSink((line) => lines.push(line));

const folder = new Folder();
let authority: Authority;
let other: Authority;
let server: Signed;
let client: Signed;
beforeAll(async () => {
  [authority, other] = await Promise.all([createAuthority(), createAuthority()]);
  [server, client] = await Promise.all([authority.sign('localhost'), authority.sign('orders')]);
});
afterAll(() => {
  folder.remove();
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const writeFiles = ({ cert, key }: Signed, ca?: string) => ({
  TLS_CERT_FILE: folder.write('cert.pem', cert),
  TLS_KEY_FILE: folder.write('key.pem', key),
  ...(ca !== undefined && { TLS_CLIENT_CA_FILE: folder.write('ca.pem', ca) }),
});

/** Serves the subject of each client. */
async function serve(mode: ServerTlsSettings['TLS_CLIENT_CERTIFICATE']): Promise<Service> {
  const env = writeFiles(server, authority.cert);
  const values = { TLS_CERT_FILE: server.cert, TLS_KEY_FILE: server.key, TLS_CLIENT_CA_FILE: authority.cert, TLS_CLIENT_CERTIFICATE: mode };
  const tls = readServerTls(values, (name, message) => {
    throw new Error(`${name}: ${message}`);
  });
  const write = createSubjectWriter('x-client-subject');
  const service = await startService({
    ...{ log, port: 0, host: '127.0.0.1', drainMs: 0, tls, probes: createProbes({ isReady: () => true }) },
    handle: (asked, response) => {
      write(asked);
      response.writeHead(200).end(String(asked.headers['x-client-subject']));
    },
  });
  const watch = watchServerTls({ env, current: tls, replace: service.replaceTls, log });
  closers.push(() => {
    watch.stop();
    return service.stop();
  });
  return service;
}

/** Sends a request with a forged subject. Resolves to the body of the response, or to `refused`. */
function ask({ port }: Service, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({
      host: 'localhost',
      port,
      ca: authority.cert,
      agent: false,
      headers: { 'x-client-subject': 'CN=forged' },
      ...options,
    });
    asked.on('error', () => {
      resolve('refused');
    });
    asked.on('response', (response) => {
      response.setEncoding('utf8').once('data', resolve);
    });
    asked.end();
  });
}

describe('client certificates', () => {
  const expired = () => authority.sign('orders', new Date(Date.now() - 60_000));

  it('that are required: one of the authority is accepted; none, one of another authority and an expired one are refused', async () => {
    const service = await serve('require');
    expect(await ask(service, client)).toBe('CN=orders,O=Example');
    for (const options of [{}, await other.sign('orders'), await expired()]) expect(await ask(service, options)).toBe('refused');
  });

  it('that are requested: none is accepted, without a subject; one that is not valid is refused', async () => {
    const service = await serve('request');
    expect([await ask(service, {}), await ask(service, client)]).toEqual(['undefined', 'CN=orders,O=Example']);
    for (const options of [await other.sign('orders'), await expired()]) expect(await ask(service, options)).toBe('refused');
  });

  it('name their subject over HTTP/2 too, and on a resumed session', async () => {
    const service = await serve('require');
    const session = connectHttp2(`https://localhost:${String(service.port)}`, { ca: authority.cert, ...client });
    const stream = session.request({ ':path': '/', 'x-client-subject': 'CN=forged' }).setEncoding('utf8');
    expect(await once(stream, 'data')).toEqual(['CN=orders,O=Example']);
    session.destroy();
    const socket = connect({ host: 'localhost', port: service.port, ca: authority.cert, ...client });
    const [ticket] = (await once(socket, 'session')) as [Buffer];
    socket.destroy();
    expect(await ask(service, { ...client, session: ticket })).toBe('CN=orders,O=Example');
  });
});

describe('the certificate of a running server', () => {
  const certificateOf = async ({ port }: Service): Promise<[TLSSocket, string]> => {
    const socket = connect({ host: 'localhost', port, ca: authority.cert, ...client });
    await once(socket, 'secureConnect');
    return [socket, socket.getPeerX509Certificate()?.fingerprint256 ?? ''];
  };

  it('changes with its files for new connections, and open ones go on', async () => {
    const service = await serve('require');
    const [socket, before] = await certificateOf(service);
    writeFiles(await authority.sign('localhost'));
    await until(() => lines.some((line) => line.includes('new connections use a changed certificate')));
    const [next, after] = await certificateOf(service);
    next.destroy();
    expect(after).not.toBe(before);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(String((await once(socket, 'data')) as unknown)).toContain('HTTP/1.1 200');
  });

  it('is joined by changed authorities, which sessions of the last ones do not outlive', async () => {
    const service = await serve('require');
    const [socket] = await certificateOf(service);
    const [ticket] = (await once(socket, 'session')) as [Buffer];
    socket.destroy();
    lines.length = 0;
    folder.write('ca.pem', other.cert);
    await until(() => lines.some((line) => line.includes('new connections use a changed certificate')));
    expect([await ask(service, { ...client, session: ticket }), await ask(service, await other.sign('orders'))]).toEqual([
      'refused',
      'CN=orders,O=Example',
    ]);
  });

  it.each<[string, () => void]>([
    ['a key of another certificate', () => folder.write('key.pem', client.key)],
    ['an empty certificate', () => folder.write('cert.pem', '')],
    ['authorities that are none', () => folder.write('ca.pem', 'none')],
  ])('stays when its files have %s, with a line in the log', async (_, damage) => {
    const service = await serve('require');
    const [socket, before] = await certificateOf(service);
    socket.destroy();
    lines.length = 0;
    damage();
    await until(() => lines.some((line) => line.includes('refused changed files of the server certificate')));
    const [next, after] = await certificateOf(service);
    next.destroy();
    expect(after).toBe(before);
    expect(lines.join('')).not.toContain(client.key.split('\n')[1] ?? client.key);
  });
});

describe('readServerTls', () => {
  it.each<[string, ServerTlsSettings, string]>([
    ['authorities without a certificate', { TLS_CLIENT_CA_FILE: 'ca' }, 'TLS_CLIENT_CA_FILE'],
    ['required certificates without authorities', { TLS_CLIENT_CERTIFICATE: 'require' }, 'TLS_CLIENT_CERTIFICATE'],
    ['a subject without certificates', { TLS_CLIENT_SUBJECT_HEADER: 'x-a' }, 'TLS_CLIENT_SUBJECT_HEADER'],
  ])('reports %s', (_, values, name) => {
    const faults: string[] = [];
    expect(readServerTls(values, (each) => faults.push(each))).toBeUndefined();
    expect(faults).toEqual([name]);
  });
});

it('writes a subject as RFC 4514, with characters beyond ASCII in hexadecimal', () => {
  expect(toDistinguishedName('C=DE\nO=Café\\, Bar\nCN=a')).toBe('CN=a,O=Caf\\C3\\A9\\, Bar,C=DE');
});
