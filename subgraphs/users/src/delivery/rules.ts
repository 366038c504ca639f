/** The rules of deliveries: when they are tried again, and what a response means (Standard Webhooks). Pure: no database, no clock. */

/** Why a delivery exists. */
export type DeliveryKind = 'EVENT' | 'REPLAY' | 'PING';
/** The state of a delivery. */
export type DeliveryStatus = 'WAITING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

/** One attempt, as the log of its delivery keeps it. Times in ISO 8601. */
export interface Attempt {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly error: string | null;
}

/** A delivery as the store returns it. */
export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
  readonly eventId: string;
  readonly eventType: string;
  readonly attempts: number;
  readonly log: readonly Attempt[];
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
}

/** What an endpoint has answered, or why it has not. */
export interface Response {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly error: string | null;
}

/** What follows from an attempt. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  /** The endpoint wants no more deliveries. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'failed' };

/** The pauses after failed attempts, in seconds; about three days in all. */
export const RETRY_SECONDS: readonly number[] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** A pause is up to so much longer, so that endpoints that failed together are not called together. */
const JITTER = 0.2;
const MAX_RETRY_AFTER_SECONDS = 86_400;
const MAX_HEADERS = 20;
const MAX_HEADER_CHARACTERS = 200;
/** Headers that may contain secrets of the receiver. */
const SECRET_HEADERS = /cookie|auth|token|secret|signature|api-?key/i;

/** Parses the pauses after failed attempts, such as `5,300,1800`, in seconds. Throws an Error. */
export function parseRetrySeconds(text: string): readonly number[] {
  const seconds = text.split(',').map((part) => part.trim());
  const [most, longest] = [20, 7 * 86_400];
  if (seconds.length > most || seconds.some((part) => !/^\d{1,6}$/.test(part) || Number(part) < 1 || Number(part) > longest))
    throw new Error(`must list 1 to ${String(most)} whole numbers of seconds, separated by commas, each at most ${String(longest)}`);
  return seconds.map(Number);
}

/** How failed attempts are repeated. */
export interface RetryOptions {
  /** The number of attempts so far, this one included. */
  readonly attempts: number;
  readonly retrySeconds: readonly number[];
  /** A number from 0 to 1. */
  readonly random: number;
}

/** Returns what follows from a response: only 2xx is a success, 410 ends everything, `Retry-After` prolongs the pause. */
export function toOutcome({ status, headers }: Response, { attempts, retrySeconds, random }: RetryOptions): Outcome {
  if (status !== null && status >= 200 && status < 300) return { kind: 'succeeded' };
  if (status === 410) return { kind: 'gone' };
  const pause = retrySeconds[attempts - 1];
  if (pause === undefined) return { kind: 'failed' };
  const seconds = Math.max(pause * (1 + JITTER * random), readRetryAfter(headers?.['retry-after']));
  return { kind: 'retry', delayMs: Math.round(seconds * 1000) };
}

/** Returns the headers of a response for the log: bounded, and without those that may contain secrets. */
export function toLoggedHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !SECRET_HEADERS.test(name));
  return Object.fromEntries(
    kept.slice(0, MAX_HEADERS).map(([name, value]) => [name.slice(0, MAX_HEADER_CHARACTERS), toStorable(String(value))]),
  );
}

/** Returns a string that PostgreSQL stores. */
function toStorable(value: string): string {
  return value.slice(0, MAX_HEADER_CHARACTERS).replaceAll('\0', '').toWellFormed();
}

/** Only seconds are read; a date is ignored. */
function readRetryAfter(value: string | undefined): number {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Math.min(Number(value), MAX_RETRY_AFTER_SECONDS) : 0;
}
