/** Chooses the media type of an answer, and the HTTP status that goes with it (GraphQL over HTTP, "Content negotiation" and "Status codes"). */
import type { Outcome } from '../../engines/engine.ts';

export interface MediaType {
  readonly contentType: string;
  /** The status of an answer that did not get as far as data. */
  readonly statusOf: (outcome: Outcome) => number;
}

/** The type of its own that GraphQL has: its status tells how it went. */
const GRAPHQL: MediaType = {
  contentType: 'application/graphql-response+json; charset=utf-8',
  statusOf: (outcome) => (outcome === 'refused' ? 400 : 200),
};
/** For clients that read any other status than 200 as a failure of the network: those that ask for plain JSON by name. */
const PLAIN_JSON: MediaType = { contentType: 'application/json; charset=utf-8', statusOf: () => 200 };
/** For all who don't say what they want: JSON, and a status that tells. */
const ANY: MediaType = { contentType: 'application/json; charset=utf-8', statusOf: GRAPHQL.statusOf };

const CHARSETS = new Set(['utf-8', 'utf8', '"utf-8"']);

/** Undefined when the client takes nothing that there is. */
export function chooseMediaType(accept: string | undefined): MediaType | undefined {
  if (accept === undefined || accept === '*/*' || accept === '') return ANY;
  if (accept === 'application/json') return PLAIN_JSON;
  const ranges = readAccept(accept);
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

export interface MediaRange {
  /** In lower case, without parameters. */
  readonly type: string;
  /** As they stand there, in lower case, `q` among them. */
  readonly parameters: readonly string[];
  /** From 0 to 1; 0 for a range that is not well-formed or asks for another charset than UTF-8. */
  readonly weight: number;
}

/** The media ranges of an `Accept` header, in order (RFC 9110 §12.5.1). */
export function readAccept(accept: string): MediaRange[] {
  return accept.toLowerCase().split(',').map(readRange);
}

/** The highest weight that the client gives to JSON, of GraphQL or plain, by name or by a wildcard. */
export function weighJson(ranges: readonly MediaRange[]): number {
  return Math.max(0, ...ranges.filter(({ type }) => JSON_RANGES.has(type)).map(({ weight }) => weight));
}

const JSON_RANGES = new Set(['application/graphql-response+json', 'application/json', 'application/*', '*/*']);

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  let weight = 1;
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=').map((part) => part.trim());
    if (name === 'q') weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
    if (name === 'charset' && !CHARSETS.has(value)) weight = 0;
  }
  return { type, parameters, weight };
}
