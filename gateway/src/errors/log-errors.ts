/** Writes the errors of a result that the client did not cause into the log. */
import { type Log, type LogFields, ReportedError } from '@trestle/log';
import type { ResultError } from '../program/result.ts';
import { isServerError } from './format-error.ts';

/** The most lines for one result: a line is written at once, and a list of entities may have an error at each. */
const MAX_LINES = 20;

interface Group {
  readonly code: string;
  readonly service: string | undefined;
  readonly cause: unknown;
  count: number;
}

type MutableFields = { -readonly [Name in keyof LogFields]: LogFields[Name] };

/** Writes one line for equal errors of a subgraph, with their number where there are several, and at most 20 lines: the last one counts the others. */
export function logErrors(log: Log, errors: readonly ResultError[], requestId: string): void {
  const groups = new Map<string, Group>();
  let others = 0;
  for (const error of errors) {
    if (!isServerError(error)) continue;
    const { code, service } = error.extensions;
    const key = `${String(service)} ${String(code)} ${error.message}`;
    const group = groups.get(key);
    if (group) group.count++;
    else if (groups.size === MAX_LINES - 1) others++;
    else groups.set(key, toGroup(error));
  }
  for (const { code, service, cause, count } of groups.values()) {
    const fields: MutableFields = { requestId, code };
    if (service !== undefined) fields.subgraph = service;
    if (count > 1) fields.count = count;
    if (cause !== undefined) fields.error = cause;
    log.error('request failed', fields);
  }
  if (others > 0) log.error('request failed, with further errors', { requestId, count: others });
}

function toGroup({ message, cause, extensions: { code, service } }: ResultError): Group {
  return {
    code: typeof code === 'string' ? code : 'INTERNAL_ERROR',
    service: typeof service === 'string' ? service : undefined,
    // That of INTERNAL_ERROR says nothing.
    cause: cause ?? (code === 'INTERNAL_ERROR' ? undefined : new ReportedError(message)),
    count: 1,
  };
}
