/** The formats of trace contexts, by their names in OpenTelemetry's `OTEL_PROPAGATORS`, and their headers. No I/O. */

/** Each format once. `none` continues no trace. */
export const PROPAGATORS = ['tracecontext', 'baggage', 'b3', 'b3multi', 'jaeger', 'none'] as const;
/** Names one format. */
export type PropagatorName = (typeof PROPAGATORS)[number];
/** W3C Trace Context. */
export const DEFAULT_PROPAGATORS: readonly PropagatorName[] = ['tracecontext'];

const B3_FIELDS = ['b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-sampled', 'x-b3-parentspanid', 'x-b3-flags'] as const;
/** The header of Jaeger. */
export const JAEGER_FIELD = 'uber-trace-id';
const FIELDS: Readonly<Record<PropagatorName, readonly string[]>> = {
  tracecontext: ['traceparent', 'tracestate'],
  baggage: ['baggage'],
  b3: B3_FIELDS,
  b3multi: B3_FIELDS,
  jaeger: [JAEGER_FIELD],
  none: [],
};

/** Returns the names of the headers that these formats have. */
export function listTraceHeaders(names: readonly string[]): readonly string[] {
  return [...new Set((names as readonly PropagatorName[]).flatMap((name) => FIELDS[name]))];
}
