import { expect, it } from '@jest/globals';
import { isBearerKey } from './bearer-key.ts';

it.each([
  ['Bearer secret', true],
  ['Bearer secret ', false],
  ['bearer secret', true],
  ['Bearer Secret', false],
  ['secret', false],
  ['', false],
  [undefined, false],
])('isBearerKey returns for %j with the key `secret`: %j', (authorization, expected) => {
  expect(isBearerKey(authorization, 'secret')).toBe(expected);
});
