/** `POST /usage/{environment}`: takes reports of gateways (ADR 44). It needs a token with the scope REPORT, as `Authorization: Bearer`. */
import type { IncomingMessage } from 'node:http';
import type { Database } from '@trestle/chassis/database/database';
import type { Endpoint } from '@trestle/chassis/server/subgraph';
import type { Log } from '@trestle/log';
import { fail } from '@trestle/schema/errors';
import { limitJsonParts } from '@trestle/service/messages/strict-json';
import { Counter, type Registry as Metrics } from 'prom-client';
import { readBody } from '../artifact/read-body.ts';
import { type Reply, createEndpoint } from '../artifact/respond.ts';
import { createTurns } from '../composition/turns.ts';
import type { Store } from '../store.ts';
import { requireAccess } from '../tokens/access.ts';
import { findToken } from '../tokens/create-token.ts';
import { parseUsageReport } from './usage-report.ts';
import { recordUsage } from './usage-writes.ts';

/** The beginning of the path. */
export const USAGE_PATH = '/usage/';

const PATH = /^\/usage\/([a-z][a-z0-9-]{0,63})$/;
const MAX_BYTES = 4 * 1024 * 1024;
/** More than the 32,009 objects, lists and names of the largest report. */
const MAX_PARTS = 40_000;
/** Reports are recorded one after the other; gateways send the others again. */
const MAX_WAITING = 20;

/** What the endpoint is created from. */
export interface UsageEndpointOptions {
  readonly store: Store;
  readonly database: Pick<Database, 'transact'>;
  readonly metrics: Metrics;
  readonly now: () => number;
  readonly log: Log;
}

/** Creates the endpoint. It answers `{"isDuplicate": …, "missing": […]}`: the hashes of operations whose text it does not have. */
export function createUsageEndpoint({ store, database, metrics, now, log }: UsageEndpointOptions): Endpoint {
  const takeTurn = createTurns(MAX_WAITING);
  const reports = new Counter({
    name: 'trestle_registry_usage_reports_total',
    help: 'Reports of usage, by result: recorded, or duplicate for those that were recorded before.',
    labelNames: ['result'],
    registers: [metrics],
  });
  for (const result of ['recorded', 'duplicate']) reports.inc({ result }, 0);
  return createEndpoint(async (request): Promise<Reply> => {
    const environment = PATH.exec(request.url?.split('?', 1)[0] ?? '')?.[1];
    if (environment === undefined)
      return { kind: 'refused', code: 'NOT_FOUND', message: 'The path does not exist. Send reports to /usage/<environment>.' };
    if (request.method !== 'POST') return { kind: 'refused', code: 'METHOD_NOT_ALLOWED', message: 'Send POST.' };
    const token = await findToken(/^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1], store);
    if (!token) throw fail('UNAUTHORIZED', 'A valid token of the registry is required.');
    requireAccess(token, { scopes: ['REPORT'], environments: [environment] });
    if (!/^application\/json *(?:;|$)/i.test(request.headers['content-type'] ?? ''))
      throw fail('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json.');
    if (!(await store.findCurrentRelease(environment))) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
    const body = await readJson(request);
    return takeTurn(async () => {
      const recorded = await recordUsage({ database }, environment, parseUsageReport(body, now()));
      reports.inc({ result: recorded.isDuplicate ? 'duplicate' : 'recorded' });
      return { kind: 'json', body: recorded };
    });
  }, log);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, MAX_BYTES);
  limitJsonParts(text, MAX_PARTS);
  try {
    return JSON.parse(text);
  } catch {
    throw fail('VALIDATION_ERROR', 'The request body must be JSON.');
  }
}
