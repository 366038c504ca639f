/** What every refusal must be: one envelope, an expected status, and nothing about the machine behind it (spec §7.1). */
import { demand } from '../attack.ts';
import { countStatuses } from './http.ts';
import type { RawReply } from './http-reply.ts';

/** 501, 503, 504 and 505 are refusals; any other 5xx is a fault of the server. */
const ALLOWED_5XX = new Set([501, 503, 505]);
const LEAKS = [
  /\bat [\w.<>]+ \(/,
  /node:internal|node_modules|\.[mc]?[jt]s:\d+/,
  /\/(?:tmp|home|root|usr|work|var|proc)\//,
  /\b(?:127\.0\.0\.1|localhost):\d+/,
  /ECONN|EPIPE|Prisma|postgres/i,
];

/** Throws a breach for a 5xx other than 501, 503, 505, for an error without an envelope, and for one that reveals internals. */
export function checkRefusal({ status, headers, body }: RawReply, about: string): void {
  demand(!Number.isNaN(status), `${about}: the answer is not HTTP`);
  demand(status < 500 || ALLOWED_5XX.has(status), `${about}: status ${status}: ${body.toString().slice(0, 300)}`);
  if (status < 400 || body.length === 0) return;
  const text = body.toString();
  const leak = LEAKS.find((pattern) => pattern.test(text));
  demand(leak === undefined, `${about}: the error contains internal details (${String(leak)}): ${text.slice(0, 300)}`);
  demand(
    (headers['content-type'] ?? '').includes('json'),
    `${about}: status ${status} with ${headers['content-type'] ?? 'no content type'}: ${text.slice(0, 200)}`,
  );
  demand(hasEnvelope(text), `${about}: status ${status} without an envelope: ${text.slice(0, 200)}`);
}

function hasEnvelope(text: string): boolean {
  try {
    const value = JSON.parse(text) as { error?: unknown; errors?: unknown; code?: unknown } | null;
    // The bridge's envelope, its problem document, or the gateway's list.
    return (
      typeof value === 'object' &&
      value !== null &&
      (isFault(value.error) || isFault(value) || (Array.isArray(value.errors) && value.errors.length > 0))
    );
  } catch {
    return false;
  }
}

function isFault(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { code?: unknown }).code === 'string';
}

/** Throws a breach for any answer that says INTERNAL_ERROR, is a 5xx, or did not arrive. Returns the statuses in short. */
export function checkGraphqlReplies(replies: readonly RawReply[]): string {
  for (const { status, body } of replies) {
    const text = body.toString('utf8', 0, 100_000);
    demand(status > 0, `no answer (${countStatuses(replies)})`);
    demand(
      !text.includes('INTERNAL_ERROR') && (status < 500 || status === 503 || status === 504),
      `status ${status}: ${text.slice(0, 300)}`,
    );
  }
  return countStatuses(replies);
}
