/** Multipart requests over a real connection, stored in a directory. The client holds its request open, so that what ends first is decided. */
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, type Server, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FileStore } from '@trestle/files/file-store';
import { createLocalStore } from '@trestle/files/local-store';
import { toFault } from '@trestle/schema/errors';
import { readFiles } from './read-files.ts';

const MAX_BYTES = 100_000;
const HEAD = [
  '--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{"query":"{ a }","variables":{"file":null}}\r\n',
  '--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"0":["variables.file"]}\r\n',
  '--b\r\nContent-Disposition: form-data; name="0"; filename="a"\r\n\r\n',
].join('');

let root: string;
let files: FileStore;
let server: Server;
let client: ClientRequest;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'trestle-uploads-'));
  files = createLocalStore(root);
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = send({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b' } });
  client.on('error', () => undefined);
});
afterEach(async () => {
  client.destroy();
  server.close();
  server.closeAllConnections();
  files.close();
  await rm(root, { recursive: true });
});

/** Sends the fields and the start of the file, and resolves with the request that the server receives. */
async function begin(content: Buffer): Promise<IncomingMessage> {
  const received = once(server, 'request') as Promise<[IncomingMessage]>;
  client.write(HEAD);
  client.write(content);
  return (await received)[0];
}

const warnings: object[] = [];
const log = { warn: (message: string, fields?: object) => void warnings.push({ message, ...fields }) };
const read = (request: IncomingMessage, store = files) => {
  let id = 0;
  return readFiles(request, { files: store, prefix: 'videos/', maxBytes: MAX_BYTES, createId: () => `vid_${String(++id)}` }, log);
};
/** Returns the names of all files below the root, also of unfinished ones. */
const kept = async () => (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

describe('readFiles', () => {
  it('rejects with PAYLOAD_TOO_LARGE when the file exceeds the limit in the middle of the request, and keeps nothing', async () => {
    const error: unknown = await read(await begin(Buffer.alloc(MAX_BYTES + 1))).catch((reason: unknown) => reason);
    expect(toFault(error)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(String(MAX_BYTES)) });
    expect(await kept()).toEqual([]);
  });

  it.each([
    ['operations', '{ a }'],
    ['map', 'variables.file'],
  ])('rejects with VALIDATION_ERROR when the part `%s` is not UTF-8, and keeps nothing', async (name, text) => {
    const received = once(server, 'request') as Promise<[IncomingMessage]>;
    client.end(Buffer.from(`${HEAD.replace(text, `${text}\xff`)}a\r\n--b--\r\n`, 'latin1'));
    const error: unknown = await read((await received)[0]).catch((reason: unknown) => reason);
    const message = `The multipart request has a part \`${name}\` that is not valid UTF-8.`;
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', message });
    expect(await kept()).toEqual([]);
  });

  it('reads a request without files', async () => {
    const received = once(server, 'request') as Promise<[IncomingMessage]>;
    client.end(`${HEAD.slice(0, HEAD.lastIndexOf('--b')).replace('{"0":["variables.file"]}', '{}')}--b--\r\n`);
    const { operations, files: stored } = await read((await received)[0]);
    expect([operations, stored]).toEqual([{ query: '{ a }', variables: { file: null } }, []]);
  });

  it.each([
    ['a part twice', 'operations', 'has the part operations twice'],
    ['an unknown part', 'other', 'has the unknown part other'],
    ['a part of the map without a file', '0', 'has no file in the part 0'],
  ])('rejects with VALIDATION_ERROR when the request has %s', async (_, name, message) => {
    const received = once(server, 'request') as Promise<[IncomingMessage]>;
    const part = `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\na\r\n--b--\r\n`;
    client.end(HEAD.slice(0, HEAD.lastIndexOf('--b')) + part);
    const error: unknown = await read((await received)[0]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining(message) });
  });

  it('rejects when the client disconnects in the middle of a file, and keeps nothing', async () => {
    const request = await begin(Buffer.alloc(1000));
    const reading = read(request);
    request.once('data', () => client.destroy());
    await expect(reading).rejects.toThrow('disconnected');
    expect(await kept()).toEqual([]);
  });

  it('rejects with the reason of the refusal when a stored file cannot be deleted, and deletes the others', async () => {
    const failure = new Error('The store is not available');
    const failing: FileStore = {
      ...files,
      delete: (key) => (key === 'videos/vid_1' ? Promise.reject(failure) : files.delete(key)),
    };
    const second = '\r\n--b\r\nContent-Disposition: form-data; name="1"; filename="b"\r\n\r\nb\r\n--b--\r\n';
    const received = once(server, 'request') as Promise<[IncomingMessage]>;
    client.end(HEAD.replace('{"0":["variables.file"]}', '{"0":["variables.file"],"1":["variables.b"],"2":["variables.c"]}') + 'a' + second);
    await expect(read((await received)[0], failing)).rejects.toThrow('lacks the files 2');
    expect((await kept()).map(({ name }) => name)).toEqual(['vid_1']);
    expect(warnings).toEqual([{ message: 'could not delete a file of a refused request', error: failure }]);
  });

  it('stores a file of exactly the limit', async () => {
    const request = await begin(Buffer.alloc(MAX_BYTES, 'x'));
    client.end('\r\n--b--\r\n');
    const { files: stored } = await read(request);
    expect(stored).toEqual([expect.objectContaining({ key: 'videos/vid_1', size: MAX_BYTES })]);
    expect(await files.stat('videos/vid_1')).toMatchObject({ size: MAX_BYTES });
  });
});
