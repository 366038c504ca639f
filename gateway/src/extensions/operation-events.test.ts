import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createFileCheck } from '@trestle/multipart/file-check';
import { NO_STORE } from '../request/cache-policy.ts';
import type { RequestContext } from '../request/context.ts';
import { ExtendedRequest } from '../request/extended-request.ts';
import { NO_REPORTS, type OperationRequest, type OperationResult } from '../request/operation.ts';
import { Upload } from '../request/upload.ts';
import { ReceivedEvent, WrittenEvent } from './operation-events.ts';

const REQUEST = new ExtendedRequest({
  ...{ id: 'r1', transport: 'http', method: 'POST', url: '/graphql', headers: {}, client: undefined },
  setResponseHeader: () => undefined,
});
const OPERATION: OperationRequest = {
  ...{ query: 'query A { a }', operationName: 'A', variables: { limit: 1 }, isReadOnly: false, reports: NO_REPORTS },
  context: {} as RequestContext,
};

/** Creates a result that counts how often its bytes are released. */
function createResult(): OperationResult & { readonly released: () => number } {
  const bytes = Buffer.from('{"data":{"a":1}} and what another request has left');
  let released = 0;
  return {
    ...{ outcome: 'complete', status: undefined, challenge: undefined, operationKind: 'query', operationName: 'A' },
    ...{ caching: { maxAge: 60, sharedMaxAge: 60, isPrivate: false }, bytes, length: 16 },
    release: () => released++,
    released: () => released,
  };
}

describe('ReceivedEvent', () => {
  it('keeps the operation when nothing is replaced', () => {
    expect(new ReceivedEvent(REQUEST, OPERATION).toOperation()).toBe(OPERATION);
  });

  it('replaces the members that are given, for the next hooks too', () => {
    const event = new ReceivedEvent(REQUEST, OPERATION);
    event.setOperation({ query: 'query B { b }', operationName: null });
    expect(event).toMatchObject({ query: 'query B { b }', operationName: undefined, variables: { limit: 1 } });
    event.setOperation({ variables: { limit: 2 } });
    expect(event.toOperation()).toMatchObject({ query: 'query B { b }', operationName: undefined, variables: { limit: 2 } });
  });

  it('copies the variables', () => {
    const variables = { limit: 2, at: new Date(0) };
    const event = new ReceivedEvent(REQUEST, OPERATION);
    event.setOperation({ variables });
    variables.limit = 3;
    expect(event.toOperation().variables).toEqual({ limit: 2, at: '1970-01-01T00:00:00.000Z' });
  });

  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const WRONG: readonly [string, unknown][] = [
    ['nothing', undefined],
    ['a list', []],
    ['a member that does not exist', { document: '{ a }' }],
    ['a query that is no string', { query: 1 }],
    ['no query', { query: null }],
    ['a name that is no string', { operationName: {} }],
    ['a name of 201 characters', { operationName: 'a'.repeat(201) }],
    ['variables that are a list', { variables: [1] }],
    ['variables that are no JSON', { variables: circular }],
    ['variables with a BigInt', { variables: { a: 1n } }],
    ['variables of a function', { variables: () => 1 }],
  ];
  it.each(WRONG)('throws a TypeError for %s, and changes nothing', (_, replacement) => {
    const event = new ReceivedEvent(REQUEST, OPERATION);
    expect(() => {
      event.setOperation(replacement as object);
    }).toThrow(TypeError);
    expect(event.toOperation()).toBe(OPERATION);
  });

  it('throws a TypeError for variables of a request with files', () => {
    const upload = new Upload(new IncomingMessage(new Socket()), { boundary: 'b', check: createFileCheck('b', []), maxBytes: 1 });
    const event = new ReceivedEvent(REQUEST, { ...OPERATION, context: { upload } as RequestContext });
    expect(() => {
      event.setOperation({ variables: {} });
    }).toThrow('files');
    event.setOperation({ operationName: null });
    expect(event.toOperation().variables).toBe(OPERATION.variables);
  });
});

describe('WrittenEvent', () => {
  it('replaces the body, which may not be cached then, and releases the bytes once', () => {
    const result = createResult();
    const event = new WrittenEvent(REQUEST, result);
    expect(event.readBody()).toBe('{"data":{"a":1}}');
    event.setBody('{"data":{"a":"ö"}}');
    expect(event.readBody()).toBe('{"data":{"a":"ö"}}');
    event.setBody('{"data":null}');
    const { bytes, length, release, caching } = event.toResult();
    expect([bytes.toString('utf8', 0, length), release, caching]).toEqual(['{"data":null}', undefined, NO_STORE]);
    // Another request may have the bytes then.
    expect(() => event.readBody()).toThrow('has been sent');
    expect(result.released()).toBe(1);
  });

  it('replaces the body by one without line ends, which would end a server-sent event', () => {
    const event = new WrittenEvent(REQUEST, createResult());
    event.setBody('{\r\n  "data": {\n    "a": "x\\ny",\r"b": 1.0 }\n}');
    const { bytes, length } = event.toResult();
    expect(bytes.toString('utf8', 0, length)).toBe('{    "data": {     "a": "x\\ny", "b": 1.0 } }');
  });

  it.each([
    ['text that is no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['an object', {}],
    ['more than 32 MiB', JSON.stringify({ data: 'x'.repeat(32 * 1024 * 1024) })],
  ])('throws an error for %s, and keeps the result', (_, body) => {
    const result = createResult();
    const event = new WrittenEvent(REQUEST, result);
    expect(() => {
      event.setBody(body as string);
    }).toThrow();
    expect(event.toResult()).toBe(result);
    expect(result.released()).toBe(0);
  });

  it('throws a TypeError for the first of several incremental responses', () => {
    const event = new WrittenEvent(REQUEST, { ...createResult(), rest: () => undefined });
    expect(() => {
      event.setBody('{}');
    }).toThrow('incremental');
  });

  it('throws a TypeError once the result belongs to the transport', () => {
    const result = createResult();
    const event = new WrittenEvent(REQUEST, result);
    event.toResult();
    expect(() => {
      event.setBody('{}');
    }).toThrow('has been sent');
    expect(result.released()).toBe(0);
  });
});

describe('setResponseHeader', () => {
  it('throws for more than 50 headers, or 8192 characters of all values, of one request', () => {
    const sent: string[] = [];
    const createEvent = () =>
      new WrittenEvent(
        new ExtendedRequest({
          ...{ id: 'r1', transport: 'http', method: 'POST', url: '/graphql', headers: {}, client: undefined },
          setResponseHeader: (name) => sent.push(name),
        }),
        createResult(),
      );
    const event = createEvent();
    for (let i = 0; i < 100; i++) event.setResponseHeader(`X-${String(i % 50)}`, 'a');
    expect(() => {
      event.setResponseHeader('x-other', 'a');
    }).toThrow('at most 50 headers');
    const long = createEvent();
    for (const name of ['x-a', 'x-a', 'x-b']) long.setResponseHeader(name, 'a'.repeat(4096));
    expect(() => {
      long.setResponseHeader('x-c', 'a');
    }).toThrow('8192 characters');
    expect(sent).toHaveLength(103);
  });
});
