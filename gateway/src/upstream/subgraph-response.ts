/** Parses the response of a subgraph (GraphQL §7.1, GraphQL over HTTP §6.4). No I/O. */
import type { SubgraphResult } from '../program/result.ts';
import { parseObject } from '../request/json.ts';

export interface SubgraphResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  /** The body, as it was sent before it was compressed. */
  readonly text: string;
}

/** Returns the execution result; undefined when the response is not a well-formed GraphQL response. */
export function readResponse({ status, contentType, text }: SubgraphResponse): SubgraphResult | undefined {
  const result: SubgraphResult | undefined = isJson(contentType) ? parseObject(text) : undefined;
  return result && isResult(result) && isUsable(result, status) ? result : undefined;
}

/** GraphQL §7.1: a result without data has errors. */
function isResult({ data, errors }: { readonly data?: unknown; readonly errors?: unknown }): boolean {
  if (errors !== undefined && errors !== null && !Array.isArray(errors)) return false;
  const isFailed = Array.isArray(errors) && errors.length > 0;
  return typeof data === 'object' && data !== null ? !Array.isArray(data) : (data === undefined || data === null) && isFailed;
}

/** GraphQL over HTTP §6.4: a response with data has a 2xx status. */
function isUsable({ data }: SubgraphResult, status: number): boolean {
  return (status >= 200 && status < 300) || data === undefined || data === null;
}

/** RFC 9110 §8.3: content without a type may be examined; content of another type than JSON is no result. */
export function isJson(contentType: string | undefined): boolean {
  return contentType === undefined || /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType);
}
