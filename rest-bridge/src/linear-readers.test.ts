/** Every parser of client input takes time that grows linearly with the length of the input. */
import { describe, expect, it } from '@jest/globals';
import { readBearerToken, readCredential, takeUrlKeys } from '@trestle/identity/credentials/credential';
import type { FieldFault } from '@trestle/schema/errors';
import { readApiSdl } from '@trestle/schema/sdl';
import { chooseEncoding } from '@trestle/service/messages/encoding';
import { parseStrictJson } from '@trestle/service/messages/strict-json';
import { buildSchema } from 'graphql';
import { evaluateReadConditions, parseWriteConditions } from './http/conditional.ts';
import { requireJson } from './http/json-body.ts';
import { wantsProblem } from './http/media-types.ts';
import { parseRanges } from './http/range.ts';
import type { CompiledRoute } from './pipeline/compile.ts';
import { locate } from './pipeline/locate.ts';
import { match } from './pipeline/match.ts';
import { negotiate } from './pipeline/negotiate.ts';
import { parseFieldSelection } from './query/field-selection.ts';
import { createListParser } from './query/list-parameters.ts';
import { createParameters } from './query/parameters.ts';
import { createSearchReader } from './query/search.ts';
import { postRoutes } from './routes/posts.ts';
import { createVersions } from './versions/versions.ts';

/** Longer than any header or URL may be: a parser of quadratic time takes seconds for it, a linear one milliseconds. */
const LENGTH = 100_000;
const GENEROUS_MS = 700;

const versions = createVersions(new Map());
const schema = buildSchema(readApiSdl());
const [route] = postRoutes;
const parseList = createListParser({ schema, version: 1 }, { filter: 'PostFilter', order: 'PostOrderField' });
const faults: FieldFault[] = [];
const validators = { etag: '"v1-a"', lastModified: 'Sun, 06 Nov 1994 08:49:37 GMT' };
const locateUrl = (url: string, headers = {}) => {
  // In pieces of the maximum length of a URL.
  for (let i = 0; i < url.length; i += 8000)
    match(() => undefined, 'GET', locate(versions, { url: `/a${url.slice(i, i + 8000)}a/`, headers }));
};
const asQuery = (text: string) =>
  createParameters(
    new URLSearchParams(['fields', 'sort', 'type', 'q', 'cursor', 'limit', 'in'].map((name): [string, string] => [name, text])),
  );

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a URL': (text) => {
    locateUrl(text);
  },
  'API-Version': (text) => locate(versions, { url: '/', headers: { 'api-version': text } }),
  Accept: (text) => [
    locate(versions, { url: '/', headers: { accept: `vnd.trestle${text}` } }),
    negotiate({ route, alternatives: [{ type: 'application/pdf' }] } as unknown as CompiledRoute, `${text}a/b`, 1),
  ],
  'Accept for problems': (text) => wantsProblem(`problem+json${text}`),
  'Accept-Encoding': (text) => chooseEncoding(text, 10_000),
  'Content-Type': (text) => {
    requireJson({ headers: { 'content-type': `application/json;${text}` } }, 'POST');
  },
  Authorization: (text) => readBearerToken(['Authorization', `Bearer ${text}!`]),
  'X-API-Key': (text) => readCredential({ rawHeaders: ['X-API-Key', `${text}!`] }),
  'an API key in a URL': (text) => takeUrlKeys({ url: `/${text}?${text}&%${text}` }),
  'conditional headers': (text) => [
    evaluateReadConditions({ 'if-match': text, 'if-none-match': text }, validators),
    evaluateReadConditions({ 'if-unmodified-since': `Sun${text}`, 'if-modified-since': `Sun, ${text}` }, validators),
    parseWriteConditions({ 'if-match': text, 'if-none-match': text }),
  ],
  Range: (text) => parseRanges(`bytes=${text}`, 1_000_000),
  'a query string': (text) => [
    parseList(asQuery(text), faults),
    createSearchReader()({ query: asQuery(text), params: {}, body: undefined }, faults),
    parseFieldSelection(asQuery(text), { fields: { id: 0, title: 0 }, include: { author: 0 } }, faults),
    createParameters(new URLSearchParams(text)).faults(),
  ],
  'a JSON body': (text) => parseStrictJson(Buffer.from(text)),
  'a JSON body of one string': (text) => parseStrictJson(Buffer.from(JSON.stringify({ [text]: text }))),
  'a JSON body of spaces': (text) => parseStrictJson(Buffer.from(`{"a"${' '.repeat(text.length)}:1}`)),
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
  '?',
  '&apiKey',
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

describe.each(Object.entries(PARSERS))('the parser of %s', (_, parse) => {
  // OWASP "Regular expression Denial of Service"; contract §6 limits what a client may send.
  it.each(PIECES)('takes at most linear time for a repeated %j', (piece) => {
    const text = piece.repeat(Math.ceil(LENGTH / piece.length));
    const run = () => {
      const started = process.cpuUsage();
      try {
        parse(text);
      } catch {
        // Most of these values are invalid.
      }
      const { user, system } = process.cpuUsage(started);
      return (user + system) / 1000;
    };
    // The faster of two runs, because garbage may be collected in one. Other processes take none of this time.
    expect(Math.min(run(), run())).toBeLessThan(GENEROUS_MS);
  });
});
