/** The schemas of error responses: the envelope and problem details. No I/O. */
import { ERRORS } from '@trestle/schema/errors';
import type { JsonSchema } from './schemas.ts';

const string: JsonSchema = { type: 'string' };
const faults: JsonSchema = {
  type: 'array',
  items: { type: 'object', properties: { field: string, message: string }, required: ['field', 'message'] },
};
const code: JsonSchema = { type: 'string', enum: Object.keys(ERRORS) };

/** The members of RATE_LIMIT_EXCEEDED (spec §7.1). */
const rateLimit: JsonSchema = {
  retryAfter: { type: 'integer', description: 'Seconds after which the request can be accepted. On rate limiting only.' },
  limit: {
    type: 'integer',
    description: 'Requests per minute, failed logins before a delay, or what may be open at once. On rate limiting only.',
  },
  remaining: { type: 'integer', description: 'Requests that are left. On rate limiting only.' },
  resetAt: { type: 'string', format: 'date-time', description: 'When the request can be accepted. On rate limiting only.' },
};

/** The member of UNAUTHORIZED for a login that needs a second factor. */
const secondFactor: JsonSchema = {
  type: 'object',
  description: 'What completes the login of an account with a second factor, at `POST /auth/login/second-factor`. On such logins only.',
  properties: {
    challenge: { type: 'string', description: 'Identifies the login, once.' },
    expiresIn: { type: 'integer', description: 'Lifetime of the challenge in seconds.' },
    methods: { type: 'array', items: { type: 'string', enum: ['totp', 'passkey', 'recovery_code'] } },
    passkey: {
      type: 'object',
      description: 'For an account with passkeys: the argument of `PublicKeyCredential.parseRequestOptionsFromJSON()`.',
    },
  },
  required: ['challenge', 'expiresIn', 'methods'],
};

/** The schemas of error responses. */
export const ERROR_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code, message: string, details: faults, requestId: { type: 'string', format: 'uuid' }, ...rateLimit, secondFactor },
        required: ['code', 'message', 'requestId'],
      },
    },
    required: ['error'],
  },
  Problem: {
    type: 'object',
    description: 'An error as problem details (RFC 9457), for clients that accept nothing else.',
    properties: {
      type: string,
      title: string,
      status: { type: 'integer' },
      detail: string,
      code,
      details: faults,
      requestId: { type: 'string', format: 'uuid' },
      ...rateLimit,
      secondFactor,
    },
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  },
};
