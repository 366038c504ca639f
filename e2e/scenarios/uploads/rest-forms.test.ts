/** Faulty forms with files by REST: `details` name what is wrong (spec §7.2). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import { sendForm, toWebm } from '../../stack/clients/multipart.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack({ env: SPECIAL_SETTINGS });
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const FILE = new Blob([Uint8Array.from(toWebm(200_000))]);
type Parts = readonly (readonly [string, string | Blob])[];

describe('POST /v1/videos', () => {
  it.each<[string, Parts, string]>([
    ['without title', [['file', FILE]], 'title'],
    [
      'with title behind file',
      [
        ['file', FILE],
        ['title', 'Late'],
      ],
      'title',
    ],
    ['without file', [['title', 'No file']], 'file'],
    [
      'with a string as file',
      [
        ['title', 'A string'],
        ['file', 'no file'],
      ],
      'file',
    ],
    [
      'with an unknown part before file',
      [
        ['title', 'More'],
        ['note', 'x'],
        ['file', FILE],
      ],
      'note',
    ],
    [
      'with an unknown part behind file',
      [
        ['title', 'More'],
        ['file', FILE],
        ['note', 'x'],
      ],
      'note',
    ],
    [
      'with an unknown file before file',
      [
        ['title', 'More'],
        ['poster', FILE],
        ['file', FILE],
      ],
      'poster',
    ],
    [
      'with an unknown file behind file',
      [
        ['title', 'More'],
        ['file', FILE],
        ['poster', FILE],
      ],
      'poster',
    ],
    [
      'with a second file',
      [
        ['title', 'Two'],
        ['file', FILE],
        ['file', FILE],
      ],
      'file',
    ],
    [
      'with an empty title',
      [
        ['title', ''],
        ['file', FILE],
      ],
      'title',
    ],
  ])('refuses a form %s, and names the field', async (_, parts, field) => {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    const { status, body } = await sendForm(`${stack.rest}/v1/videos`, form, { authorization: `Bearer ${ada.token}` });
    expect([status, body]).toMatchObject([400, { error: { code: 'VALIDATION_ERROR', details: [{ field }] } }]);
    expect(JSON.stringify(body)).not.toMatch(/graphql|`map`|operations/);
  });

  it('refuses a form whose title is not UTF-8, which would be stored with other characters', async () => {
    const text = '--b\r\ncontent-disposition: form-data; name="title"\r\n\r\n\xe9\r\n--b\r\n';
    const file = 'content-disposition: form-data; name="file"; filename="a.webm"\r\ncontent-type: video/webm\r\n\r\n';
    const response = await fetch(`${stack.rest}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: Buffer.concat([Buffer.from(text + file, 'latin1'), toWebm(1000), Buffer.from('\r\n--b--\r\n')]),
    });
    const error = { code: 'VALIDATION_ERROR', details: [{ field: 'title' }] };
    expect([response.status, await response.json()]).toMatchObject([400, { error }]);
  });
});
