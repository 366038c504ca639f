/** Turns the result of an operation into that of a tool (MCP, "Tool Result"). No I/O. */
import type { Fault } from '@trestle/schema/errors';
import { formatFault } from '../../errors/format-fault.ts';
import type { OperationResult } from '../../request/operation.ts';

/** The result of a call: the GraphQL result, as an object and as JSON. */
export interface CallResult {
  readonly [key: string]: unknown;
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError: boolean;
}

interface Result extends Record<string, unknown> {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly unknown[];
}

/** Returns the result, and releases its memory. A result with errors is an error unless a root field has a value. */
export function toCallResult({ bytes, length, release }: OperationResult): CallResult {
  const text = bytes.toString('utf8', 0, length);
  release?.();
  const result = JSON.parse(text) as Result;
  const hasData = Object.values(result.data ?? {}).some((value) => value !== null);
  return { content: [{ type: 'text', text }], structuredContent: result, isError: result.errors !== undefined && !hasData };
}

/** Returns the result of a call that was refused. */
export function toFaultResult(fault: Fault, requestId: string): CallResult {
  const result = { errors: [formatFault(fault, requestId)] };
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result, isError: true };
}
