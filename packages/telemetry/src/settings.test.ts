import { describe, expect, it } from '@jest/globals';
import { readSettings } from '@trestle/env';
import { readResourceAttributes } from './resource.ts';
import { telemetrySettings } from './settings.ts';
import { findTarget } from './target.ts';

const read = (env: Record<string, string>) => readSettings(telemetrySettings, env);

describe('telemetrySettings', () => {
  it('reads attributes that are percent-encoded, with spaces around them and = in values', () => {
    const { OTEL_RESOURCE_ATTRIBUTES: attributes } = read({ OTEL_RESOURCE_ATTRIBUTES: ' a.b = x%2Cy%3D%20z , c=d==,, e=' });
    expect([...attributes]).toEqual([
      ['a.b', 'x,y= z'],
      ['c', 'd=='],
      ['e', ''],
    ]);
  });

  it('reads headers, whose names have no case', () => {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers } = read({ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20dTpw==,X-Scope=a b' });
    expect(Object.fromEntries(headers)).toEqual({ authorization: 'Basic dTpw==', 'x-scope': 'a b' });
  });

  const many = (count: number) => Array.from({ length: count }, (_, i) => `x${String(i)}=secret`).join(',');

  it.each([
    ['OTEL_EXPORTER_OTLP_HEADERS', 'an item without =', 'a=b,secret', 'item 2 must be name=value'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no name', '=secret', 'must have the name of a header'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no value', 'a=', 'must have a value of 1 to 8192'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a line break', 'a=secret%0D%0Ax:y', 'must have a value of 1 to 8192'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a line break in a name', 'a%0D%0Ab=secret', 'must have the name of a header'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a header of the message', 'Content-Type=secret', 'must not name a header that frames'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a long value', `a=${'secret'.repeat(1400)}`, 'must have a value of 1 to 8192'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a % that begins no escape', 'a=100%secret', 'must be percent-encoded'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'many names', many(33), 'must have at most 32 names'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'many names', many(65), 'must have at most 64 names'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a long value', `a=${'secret'.repeat(50)}`, 'must have a value of at most 255'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a control character', 'a=secret%00', 'must have a value without control characters'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a name with a space', 'a b=secret', 'must have a name of 1 to 255'],
    ['OTEL_SERVICE_NAME', 'a long name', 'secret'.repeat(50), 'must be a string of at most 255'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'another protocol', 'thrift', 'must be one of http/json, http/protobuf, grpc'],
  ])('refuses %s with %s, without a part of the value', (name, _, value, fault) => {
    expect(() => read({ [name]: value })).toThrow(`${name}: ${fault}`);
    expect(() => read({ [name]: value })).not.toThrow('secret');
  });
});

describe('readResourceAttributes', () => {
  it.each([
    ['trestle-gateway by default', {}, 'trestle-gateway'],
    ['that of the attributes', { OTEL_RESOURCE_ATTRIBUTES: 'service.name=a' }, 'a'],
    ['OTEL_SERVICE_NAME before that of the attributes', { OTEL_RESOURCE_ATTRIBUTES: 'service.name=a', OTEL_SERVICE_NAME: 'b' }, 'b'],
  ])('returns as service.name %s', (_, env, name) => {
    expect(readResourceAttributes('gateway', read(env))['service.name']).toBe(name);
  });
});

describe('findTarget', () => {
  it('returns the endpoint of a signal as it is, else that of all with the path of the signal, else undefined', () => {
    const settings = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:1/base/', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l:2/' });
    expect([findTarget('traces', settings)?.url, findTarget('logs', settings)?.url]).toEqual(['http://c:1/base/v1/traces', 'http://l:2/']);
    expect(findTarget('metrics', read({ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l:2/' }))).toBeUndefined();
    const grpc = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317/', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(findTarget('traces', grpc)?.url).toBe('http://c:4317');
  });
});
