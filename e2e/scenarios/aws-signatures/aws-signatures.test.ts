/** Subgraphs and a token service that verify AWS Signature Version 4, and every source of credentials that needs no account. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type KnownKeys, findSignatureFault } from '@trestle/http-client/verify-signature';
import { until, untilLogged } from '../../stack/clients/client.ts';
import { type Federation, type FederationOptions, startFederation } from '../../stack/federation/federation.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const TOKEN = 'IQoJb3JpZ2luX2VjEXAMPLETOKEN==';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: SECRET };
const SIGNED = { SUBGRAPH_AWS_SIGV4: 'on', SUBGRAPH_AWS_REGION: 'eu-central-1', SUBGRAPH_AWS_SERVICE: 'execute-api' };
/** Nothing of the machine is looked for. */
const NO_MACHINE = { AWS_EC2_METADATA_DISABLED: 'true', AWS_CONFIG_FILE: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent' };
const ROLE = 'arn:aws:iam::123456789012:role/gateway';

const sources = {
  shop: {
    sdl: 'type Query { shop: Shop } type Mutation { open: Boolean } type Shop @key(fields: "id") { id: ID! }',
    resolvers: { Query: { shop: () => ({ id: '1' }) }, Mutation: { open: () => true } },
  },
  stock: {
    sdl: 'type Shop @key(fields: "id") { id: ID! size: Int }',
    resolvers: { Shop: { __resolveReference: ({ id }: { id: string }) => ({ id, size: 7 }) } },
  },
};
const QUERY = '{ shop { size } }';
const RESULT = { data: { shop: { size: 7 } } };

describe('requests to subgraphs that are signed', () => {
  let home: string;
  let federation: Federation | undefined;
  let servers: Server[] = [];
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'trestle-aws-'));
  });
  afterEach(async () => {
    await federation?.stop();
    federation = undefined;
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    await rm(home, { recursive: true, force: true });
  });

  /** Starts a server of AWS. */
  const listen = async (handle: Parameters<typeof createServer>[1]) => {
    const server = createServer(handle);
    servers = [...servers, server];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  };
  /** Starts the gateway. Subgraphs report what is wrong with the signature of each request. */
  const start = async (env: Record<string, string>, keys: KnownKeys, options: FederationOptions = {}) => {
    const faults: (string | undefined)[] = [];
    federation = await startFederation(sources, { env: { ...NO_MACHINE, ...env }, ...options });
    federation.intercept = ({ body }, request) => {
      faults.push(findSignatureFault(request, Buffer.from(body), { keys, region: 'eu-central-1', service: 'execute-api' }));
      return undefined;
    };
    return { federation, faults };
  };
  const logOf = ({ gateway }: Federation) => gateway.lines.join('\n');

  it('are verified by each subgraph, for queries and mutations, and with the credential of a caller', async () => {
    const { federation: started, faults } = await start(
      { ...KEYS, ...SIGNED, AWS_SESSION_TOKEN: TOKEN, FORWARD_HEADERS: 'x-tenant' },
      { AKIDEXAMPLE: { secret: SECRET, token: TOKEN } },
    );
    const headers = { authorization: 'Bearer t', 'x-tenant': 'a' };
    expect((await started.ask(QUERY, {}, headers)).body).toEqual(RESULT);
    expect((await started.ask('mutation { open }', {}, headers)).body).toEqual({ data: { open: true } });
    expect(faults).toEqual([undefined, undefined, undefined]);
    expect(logOf(started)).not.toMatch(/EXAMPLEKEY|EXAMPLETOKEN/);
  });

  it('are those of the subgraphs that have the setting, as a changed file says', async () => {
    const file = join(home, 'trestle.yaml');
    const configure = (name: string) =>
      writeFile(file, `subgraphs:\n  ${name}:\n    awsSigV4: {enabled: true, region: eu-central-1, service: execute-api}\n`);
    await configure('shop');
    const { federation: started, faults } = await start(KEYS, { AKIDEXAMPLE: { secret: SECRET } }, { args: ['--config', file] });
    await started.ask(QUERY);
    expect(faults).toEqual([undefined, '0 headers Authorization']);
    await configure('stock');
    await until(async () => {
      faults.length = 0;
      await started.ask(QUERY);
      return faults[1] === undefined;
    });
    expect(faults).toEqual(['0 headers Authorization', undefined]);
  });

  it('have the credentials of a profile in a shared file', async () => {
    const file = join(home, 'credentials');
    await writeFile(
      file,
      `[other]\naws_access_key_id = other\naws_secret_access_key = x\n[graph]\naws_access_key_id = own\naws_secret_access_key = ${SECRET}\n`,
    );
    const { federation: started, faults } = await start(
      { ...SIGNED, AWS_SHARED_CREDENTIALS_FILE: file, SUBGRAPH_AWS_PROFILE: 'graph' },
      { own: { secret: SECRET } },
    );
    expect((await started.ask(QUERY)).body).toEqual(RESULT);
    expect(faults).toEqual([undefined, undefined]);
  });

  it('have credentials of a container endpoint, which are renewed before they expire', async () => {
    const keys: Record<string, { secret: string; token: string }> = {};
    let issued = 0;
    const url = await listen((_, response) => {
      const id = `key${String(++issued)}`;
      keys[id] = { secret: SECRET, token: TOKEN };
      const Expiration = new Date(Date.now() + 3000).toISOString();
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ AccessKeyId: id, SecretAccessKey: SECRET, Token: TOKEN, Expiration }));
    });
    const { federation: started, faults } = await start({ ...SIGNED, AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/keys` }, keys);
    await until(async () => {
      expect((await started.ask(QUERY)).body).toEqual(RESULT);
      return issued >= 4;
    });
    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('have the credentials of a role that is assumed', async () => {
    const calls: { body: string; fault: string | undefined }[] = [];
    const sts = await listen((request, response) => {
      void text(request).then((body) => {
        const expected = { keys: { AKIDEXAMPLE: { secret: SECRET } }, region: 'eu-central-1', service: 'sts' };
        calls.push({ body, fault: findSignatureFault(request, Buffer.from(body), expected) });
        const until = new Date(Date.now() + 3_600_000).toISOString();
        response
          .setHeader('content-type', 'text/xml')
          .end(
            `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey><SessionToken>${TOKEN}</SessionToken><Expiration>${until}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
          );
      });
    });
    const { federation: started, faults } = await start(
      { ...KEYS, ...SIGNED, AWS_ENDPOINT_URL_STS: sts, SUBGRAPH_AWS_ROLE_ARN: ROLE, SUBGRAPH_AWS_EXTERNAL_ID: 'ext-1' },
      { ROLE: { secret: 'role-secret', token: TOKEN } },
    );
    expect((await started.ask(QUERY)).body).toEqual(RESULT);
    expect(faults).toEqual([undefined, undefined]);
    expect(calls.map(({ fault }) => fault)).toEqual([undefined]);
    const sent = Object.fromEntries(new URLSearchParams(calls[0]?.body));
    expect(sent).toMatchObject({ Action: 'AssumeRole', RoleArn: ROLE, ExternalId: 'ext-1', RoleSessionName: 'trestle-gateway' });
  });

  it('are not sent without credentials, and the log says why without a secret', async () => {
    const file = join(home, 'credentials');
    const print = join(home, 'print.sh');
    await writeFile(print, `echo ${SECRET} >&2; exit 1\n`);
    await writeFile(file, `[default]\ncredential_process = sh ${print} ${SECRET}\n`);
    const { federation: started, faults } = await start({ ...SIGNED, AWS_SHARED_CREDENTIALS_FILE: file }, {});
    const { body } = await started.ask(QUERY);
    expect(body.errors?.[0]?.extensions['code']).toBe('UPSTREAM_ERROR');
    expect(faults).toEqual([]);
    await untilLogged(started.gateway, 'AWS credentials to sign requests with could not be read');
    expect(`${logOf(started)} ${JSON.stringify(body)}`).not.toContain('EXAMPLEKEY');
  });

  it('need a region and a service, and an external id needs a role', async () => {
    const file = join(home, 'trestle.yaml');
    await writeFile(
      file,
      'traffic:\n  awsSigV4:\n    enabled: true\n    externalId: abc\nsubgraphs:\n  shop:\n    awsSigV4: {roleArn: gateway, region: "EU 1"}\n',
    );
    const command = new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url).pathname;
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [command, 'check', '--config', file, '--auth', 'off'], (_, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
    for (const expected of ['trestle.yaml:7', 'must be the ARN of a role', 'lower-case letters']) expect(output).toContain(expected);
    await writeFile(file, 'traffic:\n  awsSigV4:\n    enabled: true\n    externalId: abc\n');
    const second = await new Promise<string>((resolve) => {
      execFile(process.execPath, [command, 'check', '--config', file, '--auth', 'off'], (_, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });
    expect(second).toContain('needs region and service');
    expect(second).toContain('needs roleArn');
  });
});
