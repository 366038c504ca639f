/** A span for each SQL statement of a request, by OpenTelemetry's semantic conventions for database client calls. */
import { AsyncResource } from 'node:async_hooks';
import {
  ATTR_DB_NAMESPACE,
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_QUERY_TEXT,
  ATTR_DB_RESPONSE_STATUS_CODE,
  ATTR_DB_SYSTEM_NAME,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  DB_SYSTEM_NAME_VALUE_POSTGRESQL,
} from '@opentelemetry/semantic-conventions';
import type { Scope } from '@trestle/telemetry';
import { currentScope } from '@trestle/telemetry/current';
import pg from 'pg';

type Query = (...args: unknown[]) => unknown;
type Callback = (error: unknown, result: unknown) => void;

const POSTGRES_PORT = 5432;
const FIRST_WORD = /^\s*([a-z]+)/i;

/**
 * Wraps the `query` method of a connection to the database at `url`. A statement that is sent during a request gets a span with its text;
 * its parameters are not recorded.
 */
export function withStatementSpans(query: Query, url: URL): Query {
  const attributes = {
    [ATTR_DB_SYSTEM_NAME]: DB_SYSTEM_NAME_VALUE_POSTGRESQL,
    [ATTR_DB_NAMESPACE]: url.pathname.slice(1),
    [ATTR_SERVER_ADDRESS]: url.hostname,
    [ATTR_SERVER_PORT]: Number(url.port) || POSTGRES_PORT,
  };
  return (...args) => {
    const parent = currentScope();
    const text = parent && textOf(args[0]);
    if (parent === undefined || text === undefined) return query(...args);
    const operation = FIRST_WORD.exec(text)?.[1]?.toUpperCase() ?? 'STATEMENT';
    const scope = parent.startCall(`${operation} ${attributes[ATTR_DB_NAMESPACE]}`, {
      ...attributes,
      [ATTR_DB_OPERATION_NAME]: operation,
      [ATTR_DB_QUERY_TEXT]: text,
    });
    return observe(query, { args, scope });
  };
}

/** A pool whose callbacks run in the asynchronous context of their caller, also when they get a connection that another request has released. */
export class ContextPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void;
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): unknown {
    if (!callback) return super.connect();
    super.connect(AsyncResource.bind(callback));
    return undefined;
  }
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === 'string') return statement;
  const { text } = (statement ?? {}) as { text?: unknown };
  return typeof text === 'string' ? text : undefined;
}

/** The SQLSTATE of a statement that PostgreSQL refused; `error` for one that did not reach it. */
function sqlStateOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'error';
}

/** Ends the span with the statement, whether it takes a callback or returns a promise. */
function observe(query: Query, { args, scope }: { args: unknown[]; scope: Scope }): unknown {
  const end = (error: unknown) => {
    const code = error ? sqlStateOf(error) : undefined;
    scope.end(code === undefined ? {} : { [ATTR_DB_RESPONSE_STATUS_CODE]: code }, code);
  };
  const last = args.at(-1);
  if (typeof last === 'function') {
    const callback: Callback = (error, result) => {
      end(error);
      (last as Callback)(error, result);
    };
    return query(...args.slice(0, -1), callback);
  }
  const result = query(...args);
  if (result instanceof Promise)
    result.then(() => {
      end(undefined);
    }, end);
  return result;
}
