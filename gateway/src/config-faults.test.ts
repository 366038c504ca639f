/** Faults that are found once all settings are read: each is reported once, at its place in the file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from './config.ts';

const ARGS = ['--auth', 'off', '--supergraph', 'supergraph.graphql'];

describe('readConfig with a faulty configuration file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-config-faults-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const read = async (text: string, { args = ARGS }: { args?: string[] } = {}) => {
    const file = join(folder, 'trestle.yaml');
    await writeFile(file, text);
    return readConfig(['--config', file, ...args], {});
  };

  it('names a missing key of tokens beside the faults of the file', async () => {
    await expect(read('nope: 1', { args: ['--supergraph', 's.graphql'] })).rejects.toThrow(
      /trestle\.yaml:1:1: nope: is unknown\n.*trestle\.yaml: authentication: needs trustedIssuersFile, publicKeyFile or jwksUrl/,
    );
  });

  it.each([
    [
      'no stage of a coprocessor',
      'extensions:\n  coprocessor: { url: "http://h/" }',
      '2:3: extensions.coprocessor.stages: must name a stage',
    ],
    ['no address of a stage', 'extensions:\n  coprocessor: { stages: [onRequest] }', '2:3: extensions.coprocessor.url: must be set'],
    [
      'no address for callbacks',
      'server: {}\nsubgraphs: { a: { subscriptionProtocol: callback } }',
      '1:1: server.callbackUrl: must be set',
    ],
  ])('names the line of the section where %s is set', async (_, text, fault) => {
    await expect(read(text, { args: ARGS })).rejects.toThrow(`trestle.yaml:${fault}`);
  });

  it.each([
    ['a faulty file of issuers', 'authentication: { trustedIssuersFile: none.json }', 'authentication.trustedIssuersFile: names a file'],
    ['an unknown variable', 'authentication: { jwksUrl: "${NOT_SET}" }', 'authentication.jwksUrl: needs the environment variable NOT_SET'],
    ['an unknown stage', 'extensions: { coprocessor: { url: "http://h/", stages: [onRespond] } }', 'stages: must be among onRequest,'],
    ['an address that is no URL', 'extensions: { coprocessor: { url: h, stages: [onRequest] } }', 'coprocessor.url: must be a URL'],
    ['no file of documents', 'mcp: { enabled: true }\ndocuments: { trustedFile: 1 }', 'documents.trustedFile: must be a string'],
    ['no public key', 'supergraph: { registry: { url: "http://h/", token: t, publicKeyFile: none } }', 'publicKeyFile: names a file'],
  ])('reports %s once, and nothing as missing for that reason', async (_, text, fault) => {
    const args = text.startsWith('auth') ? ['--supergraph', 's.graphql'] : ['--auth', 'off', ...(text.startsWith('sup') ? [] : ARGS)];
    const message = await read(text, { args }).then(String, (error: unknown) => (error as Error).message);
    expect(message).toContain(fault);
    expect(message.split('\n')).toHaveLength(2);
  });

  it('names no missing key of tokens beside a file that cannot be read', async () => {
    for (const text of ['a: [', '- a: b: c'])
      await expect(read(text, { args: ['--supergraph', 's.graphql'] })).rejects.not.toThrow(/publicKeyFile|TOKEN_PUBLIC_KEY_FILE/);
  });
});
