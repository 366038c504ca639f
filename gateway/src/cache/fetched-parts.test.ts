/** The parts of responses: how they are split, kept, and joined again. Subgraphs are functions. */
import { describe, expect, it } from '@jest/globals';
import { repairJsonParse } from '@trestle/service/process/escaped-keys';
import fc from 'fast-check';
import type { FetchRequest, SendFetch } from '../execute/execute.ts';
import type { FetchCaching, FetchStep } from '../program/program.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { FetchLog } from '../request/fetch-log.ts';
import { EntityCache } from './entity-cache.ts';
import { joinParts, readParts } from './fetched-parts.ts';
import { MemoryStore } from './memory-store.ts';
import { Refreshes } from './refreshes.ts';
import { CachedSubgraphs } from './subgraph-caching.ts';
import { splitElements } from './split-elements.ts';

/** `npm run test:long` sets it. */
const IS_LONG = process.env['TEST_LENGTH'] === 'long';

// As in a process: keys of the random values below end in escapes.
repairJsonParse();

const RUNS = IS_LONG ? 100 : 30;

/** Numbers with exponents of three digits are left to the parser of JSON. */
const isScanned = (value: unknown) => !/e[+-]?\d{3}/.test(JSON.stringify(value));
const anyValue = fc.jsonValue({ stringUnit: 'binary' }).filter(isScanned);
const tricky = fc.constantFrom('"', '\\', '\\"', '],[', '}', '{"', ']}}', ',', '\n', 'é', '\u{1f600}', '{"data":{"_entities":[');
const anyObject = fc.dictionary(fc.oneof(tricky, fc.string({ unit: 'binary' })), fc.oneof(tricky, anyValue)).filter(isScanned);

describe('splitElements', () => {
  it('returns each element of a list as it is written, with brackets and escapes in strings, nesting and white space', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyObject, anyValue)), fc.integer({ min: 0, max: 2 }), (values, indent) => {
        const texts = values.map((value) => JSON.stringify(value, undefined, indent));
        expect(splitElements(texts.join(','))).toEqual(texts);
      }),
    );
  });

  it('ends, and loses no character, for JSON that is not valid', () => {
    const pieces = fc.array(fc.oneof(tricky, fc.string()), { maxLength: 20 }).map((all) => all.join(''));
    fc.assert(
      fc.property(pieces, (text) => {
        expect(splitElements(text).join(',')).toBe(text);
      }),
    );
  });
});

describe('readParts', () => {
  const entitiesOf = (values: readonly unknown[]) => JSON.stringify({ data: { _entities: values } });

  it('returns the bytes of each entity, or of the data, of a body within a larger buffer; joinParts writes the same body', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyObject, fc.constant(null)), { minLength: 1 }), tricky, tricky, (values, before, after) => {
        for (const [text, expected, isOfEntities] of [
          [entitiesOf(values), values, true],
          [JSON.stringify({ data: { values } }), [{ values }], false],
        ] as const) {
          const start = Buffer.byteLength(before);
          const body = { bytes: Buffer.from(`${before}${text}${after}`), start, end: start + Buffer.byteLength(text) };
          const parts = readParts(body, isOfEntities) ?? [];
          expect(parts.map(String)).toEqual(expected.map((value) => JSON.stringify(value)));
          expect(joinParts(parts, isOfEntities).toString()).toBe(text);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('returns undefined for a body that is cut off, has more after its end, or has white space, errors or extensions', () => {
    fc.assert(
      fc.property(fc.array(anyObject, { minLength: 1, maxLength: 3 }), fc.boolean(), (values, isOfEntities) => {
        const text = isOfEntities ? entitiesOf(values) : JSON.stringify({ data: { values } });
        const bytes = Buffer.from(`${text}${text}`);
        const length = Buffer.byteLength(text);
        for (let end = 0; end < length + 4; end++)
          if (end !== length) expect(readParts({ bytes, start: 0, end }, isOfEntities)).toBeUndefined();
        for (const other of [text.slice(0, -1), ` ${text}`, `${text} `, text.replace('[', '[ '), `${text.slice(0, -1)},"errors":[]}`]) {
          const own = Buffer.from(other);
          expect(readParts({ bytes: own, start: 0, end: own.length }, isOfEntities)).toBeUndefined();
        }
      }),
      { numRuns: RUNS },
    );
  });
});

const HEAD = '{"query":"query($representations:[_Any!]!){_entities(representations:$representations){...on T{a}}}","variables":{';
const CACHING: FetchCaching = { maxAge: 60, needsHeader: false, isPrivate: false, types: ['T'] };

type Reader = 'bytes' | 'objects' | 'refusing';

/** Returns a function that fetches entities through a cache, and what the subgraph got. `age` is the `Cache-Control` of its responses. */
function createCached({
  caching = CACHING,
  cacheControl,
  status = 200,
}: { caching?: FetchCaching; cacheControl?: string; status?: number } = {}) {
  const cache = new EntityCache({
    store: new MemoryStore({ maxBytes: 1e8 }),
    ...{ sharing: 'anonymous', staleSeconds: 0, refreshes: new Refreshes() },
    count: () => undefined,
    subgraphs: new CachedSubgraphs(),
  });
  const step = { caching, operationName: undefined } as FetchStep;
  const sent: unknown[][] = [];
  const send: SendFetch = ({ body, take, onResponse }, done) => {
    const { representations } = (JSON.parse(body) as { variables: { representations: unknown[] } }).variables;
    sent.push(representations);
    const text = JSON.stringify({ data: { _entities: representations.map((of) => ({ __typename: 'T', of })) } });
    onResponse?.({ status, header: (name) => (name === 'cache-control' ? cacheControl : undefined) });
    const bytes = Buffer.from(`,${text},`);
    const taken = status === 200 ? take?.(bytes, 1, bytes.length - 1) : undefined;
    done(null, taken ?? (JSON.parse(text) as SubgraphResult));
  };
  const fetch = (values: readonly unknown[], reader: Reader) => {
    const context = { identity: [], caller: null, client: '', fetchLog: new FetchLog() } as unknown as RequestContext;
    const report = { wanted: 0, found: 0, hasOthers: false };
    const resume = (act: () => void) => {
      act();
    };
    const representations = values.map((value) => JSON.stringify(value)).join(',');
    const body = `${HEAD}"representations":[${representations}]}}`;
    let got: SubgraphResult = {};
    const take: FetchRequest['take'] = (bytes, start, end) => {
      if (reader === 'refusing') return undefined;
      got = JSON.parse(bytes.toString('utf8', start, end)) as SubgraphResult;
      return {};
    };
    const request = { service: 's', isMutation: false, body, bodyParts: { step, head: HEAD, representations }, context };
    cache.open({ context, hash: 'h', tags: undefined, mayBeStale: true, report, resume }, send)(
      { ...request, ...(reader !== 'objects' && { take }) },
      (_, result) => {
        if (result.data) got = result;
      },
    );
    return { entities: (got.data as { _entities: unknown[] })._entities, report, policy: context.fetchLog.restriction };
  };
  return { fetch, sent };
}

describe('a fetch with a cache before it', () => {
  it('returns the entity of each representation at its place, whichever were kept, and asks for no kept one', () => {
    const lists = fc.uniqueArray(fc.oneof(fc.record({ id: fc.integer({ min: 0, max: 9 }) }), anyObject), {
      selector: (value) => JSON.stringify(value),
      minLength: 1,
    });
    const readers = fc.constantFrom<Reader>('bytes', 'objects', 'refusing');
    fc.assert(
      fc.property(fc.array(fc.tuple(lists, readers), { maxLength: 6 }), (steps) => {
        const { fetch, sent } = createCached();
        for (const [values, reader] of steps)
          expect(JSON.stringify(fetch(values, reader).entities)).toBe(JSON.stringify(values.map((of) => ({ __typename: 'T', of }))));
        const asked = sent.flat().map((value) => JSON.stringify(value));
        expect(asked).toEqual([...new Set(asked)]);
      }),
      { numRuns: RUNS },
    );
  });

  it('keeps what has fields without a hint when its subgraph allows it, and no longer than the hints of the others', () => {
    const caching = { ...CACHING, maxAge: 5, needsHeader: true };
    const allowed = createCached({ caching, cacheControl: 'max-age=100' });
    allowed.fetch([{ id: 1 }], 'bytes');
    expect(allowed.fetch([{ id: 1 }], 'bytes').policy?.maxAge).toBeLessThanOrEqual(5);
    expect(allowed.sent).toHaveLength(1);
    const silent = createCached({ caching });
    silent.fetch([{ id: 1 }], 'bytes');
    expect(silent.fetch([{ id: 1 }], 'bytes').report.found).toBe(0);
  });

  it('keeps no response with a status other than 200', () => {
    const { fetch, sent } = createCached({ status: 500 });
    for (const reader of ['bytes', 'objects'] as const) fetch([{ id: 1 }], reader);
    expect(sent).toHaveLength(2);
  });
});
