/** The way of a request: locate → match → admit → negotiate → parse → check → call → render, each stage a function in a file of its own. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { ERRORS, fail } from '@trestle/schema/errors';
import { toClientHeaders } from '@trestle/service/client-id';
import type { Scope, Tracing } from '@trestle/telemetry';
import { endServerSpan } from '@trestle/telemetry/http';
import type { GatewayClient } from '../gateway-client.ts';
import type { LoadGuard, LoadSlot } from '../http/overload.ts';
import type { Maintenance } from '../http/maintenance.ts';
import type { Outcome } from '../routes/row.ts';
import type { Table } from '../routes/table.ts';
import { DEFAULT_VERSION, type Versions } from '../versions/versions.ts';
import { ANONYMOUS, type Admitted, admit } from './admit.ts';
import { type Asked, type PartialError, call } from './call.ts';
import { check, refuseFaulty } from './check.ts';
import type { CompiledRow } from './compile.ts';
import { type Located, locate } from './locate.ts';
import { type Matched, match, requireMethod } from './match.ts';
import { negotiate } from './negotiate.ts';
import { parse } from './parse.ts';
import { renderError } from './render-error.ts';
import { type Exchange, render } from './render.ts';

export interface PipelineDependencies {
  readonly versions: Versions;
  readonly tables: ReadonlyMap<number, Table<CompiledRow>>;
  readonly verifier: TokenVerifier;
  readonly gateway: GatewayClient;
  readonly load: LoadGuard;
  readonly maintenance: Maintenance;
  readonly tracing: Tracing;
  readonly log: Log;
  /** Called once a request, when its answer has been written. */
  readonly observe: (request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
  }) => void;
}

export type Pipeline = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { log, observe, tracing } = dependencies;
  return async (request, response) => {
    const started = performance.now();
    const requestId = readRequestId(request);
    const walk: Walk = {
      exchange: toExchange({ request, response, requestId }),
      route: 'unmatched',
      trace: tracing.begin(request.headers),
    };
    try {
      await run(dependencies, walk);
    } catch (error) {
      const code = await renderError(walk.exchange, error);
      // A method or route that is not implemented is the client's business, not a failure.
      if (ERRORS[code].status >= 500 && code !== 'NOT_IMPLEMENTED')
        log.error('request failed', { requestId, route: walk.route, code, error });
    }
    const milliseconds = performance.now() - started;
    const { method = '' } = request;
    const { route } = walk;
    if (walk.trace) endServerSpan(walk.trace, { method, route: walk.versionedRoute, status: response.statusCode });
    observe({ route, method, status: response.statusCode, seconds: milliseconds / 1000 });
    log.access({ requestId, method, route, status: response.statusCode, durationMs: Math.round(milliseconds) });
  };
}

/** What is known of a request so far: an error anywhere on the way needs it to leave. */
interface Walk {
  exchange: Exchange;
  route: string;
  /** The route with its version, such as `/v1/users/{id}`; absent until one matches. */
  versionedRoute?: string;
  readonly trace: Scope | undefined;
}

async function run(dependencies: PipelineDependencies, walk: Walk): Promise<void> {
  const { versions, tables, verifier, load, maintenance } = dependencies;
  const { request } = walk.exchange;
  maintenance.check();
  const slot = load.admit();
  try {
    requireMethod(request.method ?? '');
    const located = locate(versions, request);
    const standing = versions.standing(located.version, located);
    walk.exchange = toExchange(walk.exchange, located.version, standing.headers);
    if (standing.isSunset) throw fail('GONE', 'This version of the API is no more');
    const matched = match(tables.get(located.version) ?? never(), request.method ?? '', located);
    if ('status' in matched) {
      await render(walk.exchange, { ...matched, isAnonymous: true, errors: [] });
      return;
    }
    const { row } = matched.compiled;
    walk.route = row.path;
    walk.versionedRoute = `/v${String(located.version)}${row.path}`;
    const admitted = row.ignoresCredential ? ANONYMOUS : admit(request.rawHeaders, verifier, row);
    const answer = await answerRow(dependencies, { exchange: walk.exchange, located, matched, admitted, slot, trace: walk.trace });
    await render(walk.exchange, { errors: [], ...answer, isAnonymous: admitted.caller === null });
  } finally {
    slot.leave();
  }
}

interface Admission {
  readonly exchange: Exchange;
  readonly located: Located;
  readonly matched: Matched;
  readonly admitted: Admitted;
  readonly slot: LoadSlot;
  readonly trace: Scope | undefined;
}

interface RowAnswer extends Outcome {
  readonly errors?: readonly PartialError[];
}

async function answerRow(
  { gateway }: PipelineDependencies,
  { exchange, located, matched, admitted, slot, trace }: Admission,
): Promise<RowAnswer> {
  const { compiled, params } = matched;
  const { request, requestId } = exchange;
  const alternative = negotiate(compiled, request.headers.accept, located.version);
  if (!('read' in compiled)) return compiled.row.answer({ ...located, params, caller: admitted.caller, request });

  const { authorization } = admitted;
  const asked: Asked = { gateway, variables: params, authorization, requestId, clientHeaders: toClientHeaders(request), trace };
  const refuse = (error: unknown) => refuseFaulty(error, { compiled, headers: request.headers, asked });
  const { reading, shape, idempotency } = await parse(compiled, { located, params, request }).catch(refuse);
  // Only now: a body that never comes whole would hold the slot.
  slot.take();
  const expectedVersions = await check(compiled, { headers: request.headers, asked });
  const variables = expectedVersions === undefined ? reading.variables : { ...reading.variables, expectedVersions };
  const plan = { prepare: alternative?.prepare ?? compiled.prepare, shape, isMutation: compiled.isMutation };
  const { root, prepared, errors, isReplayed, serverTiming } = await call({ ...asked, variables, idempotency }, plan).catch(refuse);
  const show = (data: unknown) => prepared.projection.show(data, located.prefix);
  const outcome = compiled.row.reply(root, show, { ...located, params, reading });
  const headers = {
    ...outcome.headers,
    ...(isReplayed && { 'idempotent-replayed': 'true' }),
    ...(serverTiming !== undefined && { 'server-timing': serverTiming }),
  };
  if (!alternative) return { ...outcome, headers, errors };
  const bytes = await alternative.write(outcome.body as Record<string, unknown>);
  return { ...outcome, headers, errors, document: { type: alternative.type, bytes } };
}

/** Ids of clients are echoed when they are UUIDs, and replaced otherwise (spec §1). */
function readRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && UUID.test(sent) ? sent : randomUUID();
}

function toExchange(
  { request, response, requestId }: Omit<Exchange, 'headers'>,
  version: number = DEFAULT_VERSION,
  standing: Readonly<Record<string, string>> = {},
): Exchange {
  const headers = { 'x-request-id': requestId, 'api-version': String(version), 'x-content-type-options': 'nosniff', ...standing };
  return { request, response, requestId, headers };
}

function never(): never {
  throw new Error('A version has no table');
}
