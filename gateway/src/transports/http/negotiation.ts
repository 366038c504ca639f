/**
 * Chooses the media type of a response and its HTTP status (GraphQL over HTTP, "Content negotiation" and "Status codes"), and the format of a stream.
 *
 * `negotiator` does not fit here: it drops the parameters that tell `multipart/mixed` of subscriptions from that of `@defer`, and whether a client
 * names a type or matches it by a wildcard, on which the status depends.
 */
import type { IncrementalFormat, Outcome } from '../../request/operation.ts';
import type { StreamFormat } from '../delivery/stream-format.ts';
import { DEFER_2022, INCREMENTAL, INCREMENTAL_V0_2 } from '../multipart/incremental-format.ts';
import { MULTIPART } from '../multipart/multipart-format.ts';
import { SERVER_SENT_EVENTS } from '../sse/sse-format.ts';

export interface MediaType {
  readonly contentType: string;
  /** Returns the status of a response without data. */
  readonly statusOf: (outcome: Outcome) => number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

const GRAPHQL: MediaType = {
  contentType: 'application/graphql-response+json; charset=utf-8',
  statusOf: (outcome) => (outcome === 'refused' ? 400 : 200),
};
/** For clients that name `application/json`: they read another status than 200 as a failure of the network. */
const PLAIN_JSON: MediaType = { contentType: JSON_TYPE, statusOf: () => 200 };
/** For clients without a preference: JSON with the status of GraphQL responses. */
const ANY: MediaType = { contentType: JSON_TYPE, statusOf: GRAPHQL.statusOf };

/** Returns undefined when the client accepts neither GraphQL responses nor JSON. */
export function chooseMediaType(accept: string | undefined): MediaType | undefined {
  if (accept === undefined || accept === '*/*' || accept === '') return ANY;
  if (accept === 'application/json') return PLAIN_JSON;
  const ranges = parseAccept(accept);
  const weightOf = (...types: readonly string[]) => {
    for (const type of types) {
      const range = ranges.find((each) => each.type === type);
      if (range) return range.weight;
    }
    return 0;
  };
  const wildcards = ['application/*', '*/*'];
  const graphql = weightOf('application/graphql-response+json', ...wildcards);
  const json = weightOf('application/json', ...wildcards);
  if (graphql === 0 && json === 0) return undefined;
  const isNamed = (type: string) => ranges.some((range) => range.type === type && range.weight > 0);
  if (graphql >= json && isNamed('application/graphql-response+json')) return GRAPHQL;
  return isNamed('application/json') ? PLAIN_JSON : ANY;
}

export interface StreamChoice {
  readonly format: StreamFormat;
  /** Whether the client prefers a stream to JSON: then the result of a query is streamed too (graphql-sse, "Distinct connections mode"). */
  readonly isPreferred: boolean;
}

/** Returns the stream format with the highest weight; undefined when the client names none. Wildcards do not count. */
export function chooseStreamFormat(accept: string | undefined): StreamChoice | undefined {
  if (accept === undefined || !/event-stream|multipart/i.test(accept)) return undefined;
  const ranges = parseAccept(accept);
  let best: { readonly format: StreamFormat; readonly weight: number } | undefined;
  for (const range of ranges) {
    const format = toStreamFormat(range);
    if (format && range.weight > (best?.weight ?? 0)) best = { format, weight: range.weight };
  }
  return best && { format: best.format, isPreferred: best.weight > weighJson(ranges) };
}

/** `multipart/mixed` may name a specification, which must be that of subscriptions and not that of `@defer`. */
function toStreamFormat({ type, parameters }: MediaRange): StreamFormat | undefined {
  if (type === 'text/event-stream') return SERVER_SENT_EVENTS;
  if (type !== 'multipart/mixed') return undefined;
  const isOther = parameters.some(
    (parameter) => /^(?:subscriptionspec|deferspec|incrementalspec)=/.test(parameter) && !/^subscriptionspec="?1\.0"?$/.test(parameter),
  );
  return isOther ? undefined : MULTIPART;
}

export interface IncrementalChoice {
  readonly format: StreamFormat;
  readonly spec: IncrementalFormat;
}

/** Returns the format of deferred parts with the highest weight, the first one of several; undefined when the client names none. */
export function chooseIncrementalFormat(accept: string | undefined): IncrementalChoice | undefined {
  if (accept === undefined || !/event-stream|multipart/i.test(accept)) return undefined;
  let best: { readonly choice: IncrementalChoice; readonly weight: number } | undefined;
  for (const range of parseAccept(accept)) {
    const choice = toIncremental(range);
    if (choice && range.weight > (best?.weight ?? 0)) best = { choice, weight: range.weight };
  }
  return best?.choice;
}

function toIncremental({ type, parameters }: MediaRange): IncrementalChoice | undefined {
  if (type === 'text/event-stream') return { format: SERVER_SENT_EVENTS, spec: 'current' };
  if (type !== 'multipart/mixed') return undefined;
  const [named, ...others] = parameters.filter((parameter) => /^(?:subscriptionspec|deferspec|incrementalspec)=/.test(parameter));
  if (others.length > 0) return undefined;
  if (named === undefined) return { format: INCREMENTAL, spec: 'current' };
  if (/^incrementalspec="?v0\.2"?$/.test(named)) return { format: INCREMENTAL_V0_2, spec: 'current' };
  return /^deferspec="?20220824"?$/.test(named) ? { format: DEFER_2022, spec: '2022' } : undefined;
}

const JSON_RANGES = new Set(['application/graphql-response+json', 'application/json', 'application/*', '*/*']);

/** Returns the highest weight of JSON, by name or by a wildcard. */
function weighJson(ranges: readonly MediaRange[]): number {
  return Math.max(0, ...ranges.filter(({ type }) => JSON_RANGES.has(type)).map(({ weight }) => weight));
}

interface MediaRange {
  /** In lower case, without parameters. */
  readonly type: string;
  /** In lower case, including `q`. */
  readonly parameters: readonly string[];
  /** From 0 to 1; 0 for a malformed weight and for another charset than UTF-8. */
  readonly weight: number;
}

/** Parses the media ranges of an `Accept` header (RFC 9110 §12.5.1). */
function parseAccept(accept: string): MediaRange[] {
  return accept.toLowerCase().split(',').map(parseRange);
}

const CHARSETS = new Set(['utf-8', 'utf8', '"utf-8"']);

function parseRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  let weight = 1;
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=').map((part) => part.trim());
    if (name === 'q') weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
    if (name === 'charset' && !CHARSETS.has(value)) weight = 0;
  }
  return { type, parameters, weight };
}
