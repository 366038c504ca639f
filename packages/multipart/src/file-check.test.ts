import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createFileCheck } from './file-check.ts';
import { toEnd, toFileStart } from './write-request.ts';

const BOUNDARY = 'a.boundary';
const part = (name: string, content: Buffer | string) => Buffer.concat([Buffer.from(toFileStart(name, 'video/mp4')), Buffer.from(content)]);
/** Returns the bytes behind the delimiter of `map`. */
const toBody = (parts: readonly Buffer[]) =>
  Buffer.concat([
    ...parts.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from(`\r\n--${BOUNDARY}`), each])),
    Buffer.from(toEnd(BOUNDARY)),
  ]);
const check = (body: Buffer, names: readonly string[], at: readonly number[] = []) => {
  const places = [0, ...at.map((each) => each % (body.length + 1)).sort((a, b) => a - b), body.length];
  const files = createFileCheck(BOUNDARY, names);
  for (const [i, end] of places.slice(1).entries()) files.add(body.subarray(places[i], end));
  files.end();
};

describe('createFileCheck', () => {
  it('accepts requests with all files, and only those, however the bytes are cut into pieces', () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('', '\r\n', '\r', '--', `-${BOUNDARY}`, `x--${BOUNDARY}`, '\r\n--a.bound', '\r\n\r\n')
        .map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(), { maxLength: 12 }), (contents, at) => {
        const names = contents.map((_, i) => `file ${String(i)}`);
        const body = toBody(contents.map((each, i) => part(names[i] ?? '', each)));
        check(body, names, at);
        expect(() => {
          check(body, [...names, 'absent'], at);
        }).toThrow('lacks the files absent of its `map`');
      }),
    );
  });

  it('throws before the end of the request has passed', () => {
    const body = toBody([part('0', 'x')]);
    const files = createFileCheck(BOUNDARY, ['1']);
    files.add(body.subarray(0, -4));
    expect(() => {
      files.add(body.subarray(-4));
    }).toThrow('lacks the files 1');
  });

  it.each([
    ['the request ends in a file', toBody([part('0', 'x')]).subarray(0, -6)],
    ['a delimiter does not end its line', Buffer.from('x\r\nContent-Disposition: form-data; name="0"\r\n\r\n')],
    ['the headers of a part are endless', Buffer.from(`\r\n${'x: y\r\n'.repeat(1000)}`)],
  ])('throws VALIDATION_ERROR when %s', (_, body) => {
    expect(() => {
      check(body, ['0']);
    }).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('leaves what stands behind the last delimiter unread', () => {
    check(Buffer.concat([toBody([part('0', 'x')]), Buffer.from(`\r\n--${BOUNDARY}x`)]), ['0']);
  });

  // RFC 7578 §4.2, RFC 2183 §2: parameters in any order, values are quoted strings.
  it.each([
    ['form-data; filename="a; name=9.txt"; name="0"', '0'],
    ['form-data; name="a;b"; filename="x"', 'a;b'],
    ['\tform-data;\tname="0"; filename="a\\"; b"', '0'],
    ['form-data; name=0; filename="C:\\dir\\"', '0'],
  ])('reads the name of a part with `Content-Disposition: %s`', (disposition, name) => {
    const body = Buffer.from(`\r\nContent-Disposition: ${disposition}\r\n\r\nx${toEnd(BOUNDARY)}`);
    expect(() => {
      check(body, [name]);
    }).not.toThrow();
  });
});
