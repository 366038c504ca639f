import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { readHead } from './checked-head.ts';

const read = (url: string, method = 'GET') => {
  const request = { url, method, headers: { host: 'sent' }, rawHeaders: ['Host', 'sent'], httpVersion: '1.1' };
  return { isWellFormed: readHead(request as unknown as IncomingMessage), url: request.url, host: request.headers.host };
};

describe('readHead', () => {
  it.each([
    ['http://a.example/users?x=http://b/', '/users?x=http://b/', 'a.example'],
    ['HTTPS://a.example:8443/', '/', 'a.example:8443'],
    ['http://[::1]:80', '/', '[::1]:80'],
    ['http://a?x=1', '/?x=1', 'a'],
  ])('replaces the absolute target %s by its path, and Host by its authority', (target, url, host) => {
    expect(read(target)).toEqual({ isWellFormed: true, url, host });
  });

  it('reads the target of OPTIONS without a path as that of the whole server', () => {
    expect(read('http://a', 'OPTIONS').url).toBe('*');
  });

  it.each(['/', '/http://a/', '//a/b', '*', 'ftp://a/', 'users'])('leaves %s as it is', (target) => {
    expect(read(target)).toEqual({ isWellFormed: true, url: target, host: 'sent' });
  });

  it.each(['http://user@a/', 'http://a b/', 'http://a:99999/', 'http://[::g]/', 'http:///users'])('refuses %s', (target) => {
    expect(read(target).isWellFormed).toBe(false);
  });
});
