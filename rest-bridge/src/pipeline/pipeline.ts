/** The way of a request: match → admit → parse → check → call → render, each stage a function in a file of its own. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { ERRORS } from '@trestle/schema/errors';
import type { GatewayClient } from '../gateway-client.ts';
import type { Table } from '../routes/table.ts';
import { admit } from './admit.ts';
import { call } from './call.ts';
import { check } from './check.ts';
import type { CompiledRow } from './compile.ts';
import { type Matched, match } from './match.ts';
import { parse } from './parse.ts';
import { type Rendering, render, renderError, renderShortcut } from './render.ts';

export interface PipelineDependencies {
  readonly table: Table<CompiledRow>;
  readonly verifier: TokenVerifier;
  readonly gateway: GatewayClient;
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
  const { log, observe } = dependencies;
  return async (request, response) => {
    const started = performance.now();
    const sentId = request.headers['x-request-id'];
    const requestId = typeof sentId === 'string' && UUID.test(sentId) ? sentId : randomUUID();
    const rendering = { request, response, requestId };
    const trace = { route: 'unmatched' };
    try {
      await run(dependencies, rendering, trace);
    } catch (error) {
      const code = renderError(rendering, error);
      if (ERRORS[code].status >= 500) log.error('request failed', { requestId, route: trace.route, code, error });
    }
    const milliseconds = performance.now() - started;
    const { method = '', statusCode: status } = { method: request.method, statusCode: response.statusCode };
    observe({ route: trace.route, method, status, seconds: milliseconds / 1000 });
    log.info('request', { requestId, method, route: trace.route, status, durationMs: Math.round(milliseconds) });
  };
}

async function run({ table, verifier, gateway }: PipelineDependencies, rendering: Rendering, trace: { route: string }): Promise<void> {
  const { request, requestId } = rendering;
  const matched = match(table, request);
  if ('status' in matched) {
    renderShortcut(rendering, matched);
    return;
  }
  const { row } = matched.compiled;
  trace.route = row.path;
  const { caller, authorization } = admit(row, request.rawHeaders, verifier);
  const { reading, prepared } = await parse(matched, request);
  const variables = { ...reading.variables, ...check(row, request.headers['if-match']) };
  const { root, errors } = await call(gateway, { text: prepared.text, variables, authorization, requestId }, prepared.path);
  const { prefix, path, search, params } = matched satisfies Matched;
  const show = (data: unknown) => prepared.projection.show(data, prefix);
  const outcome = row.reply(root, show, { prefix, path, search, params, reading });
  render(rendering, { ...outcome, errors, isRead: row.method === 'GET', isAnonymous: caller === null });
}
