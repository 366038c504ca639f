/** Everything that reads text of clients does work that grows with the length of the text, not with its square. */
import { describe, expect, it } from '@jest/globals';
import { readBearerToken } from '@trestle/identity';
import type { FieldFault } from '@trestle/schema/errors';
import { readApiSdl } from '@trestle/schema/sdl';
import { chooseEncoding } from '@trestle/service/encoding';
import { buildSchema } from 'graphql';
import { requireJson } from './http/body.ts';
import { judgeRead, readWriteConditions } from './http/conditional.ts';
import { parseJson } from './http/json.ts';
import { readRanges } from './http/range.ts';
import { locate } from './pipeline/locate.ts';
import { match } from './pipeline/match.ts';
import { negotiate, wantsProblem } from './pipeline/negotiate.ts';
import { createListReader } from './query/list.ts';
import { createParameters } from './query/parameters.ts';
import { readSearch } from './query/search.ts';
import { readShape } from './query/shape.ts';
import { POST } from './reply/resources.ts';
import { postRows } from './routes/posts.ts';
import type { CompiledRow } from './pipeline/compile.ts';
import { createVersions } from './versions/versions.ts';

/** Longer than any header or URL may be: a reader that looks at each pair of characters takes seconds for it, a linear one milliseconds. */
const LENGTH = 100_000;
const GENEROUS_MS = 700;

const versions = createVersions(new Map());
const schema = buildSchema(readApiSdl());
const [row] = postRows;
const readList = createListReader({ schema, version: 1 }, { filter: 'PostFilter', order: 'PostOrderField' });
const faults: FieldFault[] = [];
const validators = { etag: '"v1-a"', lastModified: 'Sun, 06 Nov 1994 08:49:37 GMT' };
const locateAny = (url: string, headers = {}) => {
  // Pieces that are each as long as a URL may be, and then all at once as a header.
  for (let i = 0; i < url.length; i += 8000)
    match(() => undefined, 'GET', locate(versions, { url: `/a${url.slice(i, i + 8000)}a/`, headers }));
};
const asQuery = (text: string) =>
  createParameters(
    new URLSearchParams(['fields', 'sort', 'type', 'q', 'cursor', 'limit', 'in'].map((name): [string, string] => [name, text])),
  );

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a URL': (text) => {
    locateAny(text);
  },
  'API-Version': (text) => locate(versions, { url: '/', headers: { 'api-version': text } }),
  Accept: (text) => [
    locate(versions, { url: '/', headers: { accept: `vnd.trestle${text}` } }),
    negotiate({ row, alternatives: [{ type: 'application/pdf' }] } as unknown as CompiledRow, `${text}a/b`, 1),
  ],
  'Accept for problems': (text) => wantsProblem(`problem+json${text}`),
  'Accept-Encoding': (text) => chooseEncoding(text, 10_000),
  'Content-Type': (text) => {
    requireJson({ headers: { 'content-type': `application/json;${text}` } }, 'POST');
  },
  Authorization: (text) => readBearerToken(['Authorization', `Bearer ${text}!`]),
  'If-Match and its like': (text) => [
    judgeRead({ 'if-match': text, 'if-none-match': text }, validators),
    judgeRead({ 'if-unmodified-since': `Sun${text}`, 'if-modified-since': `Sun, ${text}` }, validators),
    readWriteConditions({ 'if-match': text, 'if-none-match': text }),
  ],
  Range: (text) => readRanges(`bytes=${text}`, 1_000_000),
  'a query string': (text) => [
    readList(asQuery(text), faults),
    readSearch({ query: asQuery(text), params: {}, body: undefined }, faults),
    readShape(asQuery(text), POST, faults),
    createParameters(new URLSearchParams(text)).faults(),
  ],
  'a JSON body': (text) => parseJson(Buffer.from(text)),
  'a JSON body of one string': (text) => parseJson(Buffer.from(JSON.stringify({ [text]: text }))),
  'a JSON body of spaces': (text) => parseJson(Buffer.from(`{"a"${' '.repeat(text.length)}:1}`)),
};

const PIECES = [
  '/',
  ' ',
  ',',
  ';',
  '"',
  'W/"',
  '"a"',
  '""',
  ' \t',
  '; charset',
  ';q=0',
  'a/b;',
  'a=b&',
  '&',
  '-',
  '0',
  '0-0,',
  '[',
  '{"',
  '{}',
  '%',
  '%41',
  '.',
  '\\',
  '(',
  'a',
  'a,-',
  '+json',
];

describe.each(Object.entries(READERS))('reading %s', (_, read) => {
  // OWASP "Regular expression Denial of Service"; contract §6: what a client may send is bounded, and so is what it costs.
  it.each(PIECES)('takes no more than linear time for a repeated %j', (piece) => {
    const text = piece.repeat(Math.ceil(LENGTH / piece.length));
    const run = () => {
      const started = performance.now();
      try {
        read(text);
      } catch {
        // Nearly all of these are refused, which is right.
      }
      return performance.now() - started;
    };
    // The better of two, since the machine may be busy.
    expect(Math.min(run(), run())).toBeLessThan(GENEROUS_MS);
  });
});
