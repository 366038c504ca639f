/** The formats in which the context of a trace arrives and goes on. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Context, ROOT_CONTEXT, type TextMapPropagator, type TextMapSetter, isSpanContextValid, trace } from '@opentelemetry/api';
import { W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { DEFAULT_PROPAGATORS, JAEGER_FIELD, type PropagatorName, listTraceHeaders } from './propagator-names.ts';

/** Reads the context of requests, and writes it into the headers of others. */
export interface Propagation {
  /** Returns whether the headers may have a context. */
  readonly has: (headers: IncomingHttpHeaders) => boolean;
  /** Returns the context of the headers: of several valid ones that of the last format; the root context without any. Never throws. */
  readonly extract: (headers: IncomingHttpHeaders) => Context;
  readonly inject: TextMapPropagator<unknown>['inject'];
}

/** The longest `baggage`, in characters, and the most entries of it (W3C Baggage §3.3.2): a longer one is left out as a whole. */
const MAX_BAGGAGE_LENGTH = 8192;
const MAX_BAGGAGE_ENTRIES = 64;

const TRACE_PARENT = (headers: IncomingHttpHeaders) => headers['traceparent'] !== undefined;

/** Creates the propagation of formats, which are read and written in this order. Loads only the packages that they need. */
export async function createPropagation(names: readonly string[] = DEFAULT_PROPAGATORS): Promise<Propagation> {
  const propagators = await Promise.all((names as readonly PropagatorName[]).filter((name) => name !== 'none').map(create));
  const fields = listTraceHeaders(names);
  const isDefault = fields.length === 2 && fields[0] === 'traceparent';
  return {
    has: isDefault ? TRACE_PARENT : (headers) => fields.some((name) => headers[name] !== undefined),
    extract: (headers) => propagators.reduce((context, propagator) => extractBy(propagator, context, headers), ROOT_CONTEXT),
    inject(context, carrier, setter) {
      for (const propagator of propagators) propagator.inject(context, carrier, setter);
    },
  };
}

async function create(name: Exclude<PropagatorName, 'none'>): Promise<TextMapPropagator<unknown>> {
  switch (name) {
    case 'tracecontext':
      return new W3CTraceContextPropagator();
    case 'baggage':
      return createBaggage();
    case 'b3':
    case 'b3multi': {
      const { B3InjectEncoding, B3Propagator } = await import('@opentelemetry/propagator-b3');
      const { SINGLE_HEADER, MULTI_HEADER } = B3InjectEncoding;
      return new B3Propagator({ injectEncoding: name === 'b3' ? SINGLE_HEADER : MULTI_HEADER });
    }
    case 'jaeger': {
      const { JaegerPropagator } = await import('@opentelemetry/propagator-jaeger');
      return boundJaeger(new JaegerPropagator());
    }
  }
}

/** Escapes that are not valid make some propagators throw. A header of a client must not fail its request. */
function extractBy(propagator: TextMapPropagator<unknown>, context: Context, headers: IncomingHttpHeaders): Context {
  try {
    return propagator.extract(context, headers, HEADERS);
  } catch {
    return context;
  }
}

function createBaggage(): TextMapPropagator<unknown> {
  const inner = new W3CBaggagePropagator();
  return {
    fields: () => inner.fields(),
    inject: (...given) => {
      inner.inject(...given);
    },
    extract(context, headers, getter) {
      const value = getter.get(headers, 'baggage');
      const isBounded = typeof value === 'string' && value.length <= MAX_BAGGAGE_LENGTH && value.split(',').length <= MAX_BAGGAGE_ENTRIES;
      return isBounded ? inner.extract(context, headers, getter) : context;
    },
  };
}

/**
 * Jaeger has baggage of its own, a header for each entry, without a bound: it is neither read nor written. Its propagator would also take ids that are
 * not valid, and write those of no trace.
 */
function boundJaeger(inner: TextMapPropagator<unknown>): TextMapPropagator<unknown> {
  return {
    fields: () => [JAEGER_FIELD],
    inject(context, carrier, setter) {
      if (!hasTrace(context)) return;
      const own: TextMapSetter<unknown> = {
        set: (target, name, value) => {
          if (name === JAEGER_FIELD) setter.set(target, name, value);
        },
      };
      inner.inject(context, carrier, own);
    },
    extract(context, headers, getter) {
      const found = inner.extract(context, headers, { get: (carrier, name) => getter.get(carrier, name), keys: () => [] });
      return hasTrace(found) ? found : context;
    },
  };
}

function hasTrace(context: Context): boolean {
  const ids = trace.getSpanContext(context);
  return ids !== undefined && isSpanContextValid(ids);
}

const HEADERS = {
  get: (headers: unknown, name: string) => (headers as IncomingHttpHeaders)[name],
  keys: (headers: unknown) => Object.keys(headers as IncomingHttpHeaders),
};
