import { createServer } from 'node:http';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Agent } from 'undici';
import { createLookup, findAddressFault, isPublicAddress } from './addresses.ts';

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:808',
  ])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fd00::1', 'fc00::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::', '2001::1', '3fff::1'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a9fe:a9fe',
      '64:ff9b::127.0.0.1',
      '64:ff9b::a00:1',
      '64:ff9b:1::8.8.8.8',
      '::127.0.0.1',
    ],
    ...['', 'localhost', '127.1', '0x7f000001', '[::1]'],
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('judges every IPv4 address as its mapped and its NAT64 form', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const isPublic = isPublicAddress(address);
        expect([isPublicAddress(`::ffff:${address}`), isPublicAddress(`64:ff9b::${address}`)]).toEqual([isPublic, isPublic]);
      }),
    );
  });
});

describe('findAddressFault', () => {
  it.each([
    'http://127.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:10.0.0.1]/',
  ])('finds the address in %s, however it is written', (url) => {
    expect(findAddressFault(new URL(url))).toContain('private');
  });

  it('leaves names to the moment when they are resolved', () => {
    expect(findAddressFault(new URL('https://localhost/'))).toBeUndefined();
  });
});

describe('a connection to public addresses only', () => {
  it('is refused for a name that resolves to this machine, before any byte is sent', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const agent = new Agent({ connect: { lookup: createLookup(false) } });
    await expect(agent.request({ origin: `http://localhost:${String(port)}`, path: '/', method: 'GET' })).rejects.toMatchObject({
      name: 'PrivateAddressError',
    });
    expect(requests).toBe(0);
    await agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('createLookup', () => {
  it('looks up a name again ten seconds after it was not found, also when the clock of the machine goes back meanwhile', async () => {
    const look = () =>
      new Promise((resolve) => {
        createLookup(true)('no-such-host.invalid', {}, resolve);
      });
    const first = await look();
    // A failure that is remembered is the same object.
    expect(await look()).toBe(first);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001);
    const later = await look();
    jest.restoreAllMocks();
    expect(later).not.toBe(first);
    expect(later).toHaveProperty('code');
  });
});
