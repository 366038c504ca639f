import { describe, expect, it } from '@jest/globals';
import { propagation, trace } from '@opentelemetry/api';
import { createPropagation } from './propagation.ts';
import { PROPAGATORS, type PropagatorName, listTraceHeaders } from './propagator-names.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const read = async (names: readonly PropagatorName[], headers: Record<string, string>) => {
  const { has, extract, inject } = await createPropagation(names);
  const context = extract(headers);
  const sent: Record<string, string> = {};
  inject(context, sent, {
    set: (carrier, name, value) => {
      (carrier as Record<string, string>)[name] = value;
    },
  });
  const { traceId, spanId } = trace.getSpanContext(context) ?? {};
  return { has: has(headers), traceId, spanId, sent, baggage: propagation.getBaggage(context)?.getAllEntries() ?? [] };
};

describe('createPropagation', () => {
  it.each<[PropagatorName, Record<string, string>]>([
    ['tracecontext', { traceparent: `00-${TRACE}-${SPAN}-01` }],
    ['b3', { b3: `${TRACE}-${SPAN}-1` }],
    ['b3multi', { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' }],
    ['jaeger', { 'uber-trace-id': `${TRACE}:${SPAN}:0:01` }],
  ])('reads and writes %s, and nothing else', async (name, headers) => {
    expect(await read([name], headers)).toMatchObject({ has: true, traceId: TRACE, spanId: SPAN, baggage: [] });
    const { sent } = await read([name], { ...headers, baggage: 'a=1', 'uberctx-a': '1' });
    expect(Object.keys(sent).map((each) => each.toLowerCase())).toEqual(Object.keys(headers));
    for (const other of PROPAGATORS.filter((each) => !listTraceHeaders([each]).some((field) => field in headers)))
      expect(await read([other], headers)).toMatchObject({ has: false, traceId: undefined, sent: {} });
  });

  it('reads one header of B3 where several are written, and the other way round', async () => {
    expect((await read(['b3multi'], { b3: `${TRACE}-${SPAN}-1` })).sent).toMatchObject({ 'x-b3-traceid': TRACE });
    expect((await read(['b3'], { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' })).sent).toEqual({
      b3: `${TRACE}-${SPAN}-1`,
    });
  });

  it('translates one format into all others', async () => {
    const { sent } = await read(['tracecontext', 'b3', 'jaeger'], { 'uber-trace-id': `${TRACE}:${SPAN}:0:1` });
    expect(sent).toEqual({
      traceparent: `00-${TRACE}-${SPAN}-01`,
      b3: `${TRACE}-${SPAN}-1`,
      'uber-trace-id': `${TRACE}:${SPAN}:0:01`,
    });
  });

  it('passes baggage on, up to 8,192 characters and 64 entries', async () => {
    expect((await read(['baggage'], { baggage: 'tenant=acme;p=1,b=%20' })).sent).toEqual({ baggage: 'tenant=acme;p=1,b=%20' });
    const entries = (count: number) => Array.from({ length: count }, (_, i) => `k${String(i)}=1`).join(',');
    expect((await read(['baggage'], { baggage: entries(64) })).baggage).toHaveLength(64);
    for (const baggage of [entries(65), `k=${'x'.repeat(8191)}`, ',,'.repeat(33)])
      expect(await read(['baggage'], { baggage })).toMatchObject({ has: true, baggage: [], sent: {} });
  });

  it.each([
    ['b3', { b3: '%' }],
    ['b3', { b3: `${'0'.repeat(32)}-${SPAN}-1` }],
    ['b3multi', { 'x-b3-traceid': 'x'.repeat(8000) }],
    ['jaeger', { 'uber-trace-id': '%' }],
    ['jaeger', { 'uber-trace-id': '%E0%A4%A:1:2:3' }],
    ['jaeger', { 'uber-trace-id': ':::' }],
    ['baggage', { baggage: '%=%' }],
    ['baggage', { baggage: '=,;,__proto__=1' }],
    ['tracecontext', { traceparent: 'x' }],
  ] as const)('takes no trace from %s %j, and does not throw', async (name, headers) => {
    expect(await read([name], headers)).toMatchObject({ has: true, traceId: undefined });
  });

  it('continues no trace with none', async () => {
    expect(await read(['none'], { traceparent: `00-${TRACE}-${SPAN}-01` })).toMatchObject({ has: false, traceId: undefined, sent: {} });
  });
});
