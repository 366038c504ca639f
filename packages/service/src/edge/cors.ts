/** CORS by a list of origins (Fetch Standard §3.2): headers of responses, and answers to preflight requests. Without a list there are none. */
import type { IncomingMessage } from 'node:http';
import { createOriginList } from './origin-list.ts';
import type { HeaderList } from '../messages/response-headers.ts';

/** What browsers of listed origins may send and read. */
export interface CorsOptions {
  /** Origins and patterns (origin-list.ts); never `*`, because the responses may depend on a credential. */
  readonly origins: readonly string[];
  /** The methods of the process. */
  readonly methods: readonly string[];
  /** Request headers besides {@link REQUEST_HEADERS}. */
  readonly requestHeaders?: readonly string[];
  /** Response headers that scripts may read besides {@link EXPOSED_HEADERS}. */
  readonly responseHeaders?: readonly string[];
  /** Whether requests may have credentials of the browser: cookies and client certificates. Default true. */
  readonly allowsCredentials?: boolean;
  /** How many seconds browsers may keep the answer to a preflight request. Default {@link MAX_AGE_SECONDS}. */
  readonly maxAgeSeconds?: number;
}

/** Answers browsers of other origins. */
export interface Cors {
  /** Returns the headers of a response: with `Access-Control-Allow-Origin` for a listed origin only. */
  headersFor(request: Pick<IncomingMessage, 'headers'>): HeaderList;
  /** Returns the answer to a preflight request; undefined for every other request, and when no origin is listed. */
  answerPreflight(request: Pick<IncomingMessage, 'headers' | 'method'>): PreflightAnswer | undefined;
}

/** The answer to a preflight request. An origin that is not listed is refused. */
export type PreflightAnswer = { readonly isAllowed: true; readonly headers: HeaderList } | { readonly isAllowed: false };

/** Headers that clients of any process may send. A wildcard would not cover `Authorization`, and is ignored for requests with credentials. */
const REQUEST_HEADERS = [
  'Accept',
  'API-Version',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Range',
  'If-Unmodified-Since',
  'Last-Event-ID',
  'Range',
  'X-API-Key',
  'X-Request-ID',
  'apollo-require-preflight',
  'apollographql-client-name',
  'apollographql-client-version',
  'graphql-client-name',
  'graphql-client-version',
  'traceparent',
  'tracestate',
  'Trestle-Cost',
  'Trestle-Plan',
  'Trestle-Snapshot',
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'x-graphql-client-name',
  'x-graphql-client-version',
  'X-GraphQL-Event-Stream-Token',
];

/** Response headers that scripts may read besides those that every script may. */
const EXPOSED_HEADERS = [
  'Accept-Encoding',
  'Accept-Patch',
  'Accept-Post',
  'Accept-Ranges',
  'Age',
  'Allow',
  'API-Version',
  'Content-Disposition',
  'Content-Location',
  'Content-Range',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'Sunset',
  'Tus-Extension',
  'Tus-Resumable',
  'Tus-Version',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Offset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-ID',
];

/** How long a browser may keep the answer to a preflight request; Chromium keeps none for longer. */
export const MAX_AGE_SECONDS = 7200;
/** Origins whose headers are made once. */
const MAX_KEPT = 2000;
const NONE: HeaderList = [];
const VARY: HeaderList = ['vary', 'Origin'];

/** Creates the answers for a list of origins. */
export function createCors({ origins, methods, requestHeaders = [], responseHeaders = [], ...limits }: CorsOptions): Cors {
  if (origins.length === 0) return { headersFor: () => NONE, answerPreflight: () => undefined };
  const { allowsCredentials = true, maxAgeSeconds = MAX_AGE_SECONDS } = limits;
  const exposed = [
    ...(allowsCredentials ? ['access-control-allow-credentials', 'true'] : []),
    'access-control-expose-headers',
    [...EXPOSED_HEADERS, ...responseHeaders].join(', '),
  ];
  const list = createOriginList(origins);
  const byOrigin = new Map<string, HeaderList>();
  const listFor = (origin: string): HeaderList => {
    const known = byOrigin.get(origin);
    if (known) return known;
    if (!list.has(origin)) return VARY;
    // A pattern fits more origins than can be kept.
    if (byOrigin.size >= MAX_KEPT) byOrigin.clear();
    const made = [...VARY, 'access-control-allow-origin', origin, ...exposed];
    byOrigin.set(origin, made);
    return made;
  };
  const permissions = [
    ...['access-control-allow-methods', methods.join(', ')],
    ...['access-control-allow-headers', [...REQUEST_HEADERS, ...requestHeaders].join(', ')],
    ...['access-control-max-age', String(maxAgeSeconds)],
  ];
  const headersFor: Cors['headersFor'] = ({ headers: { origin } }) => (origin === undefined ? VARY : listFor(origin));
  return {
    headersFor,
    answerPreflight({ method, headers: { origin, 'access-control-request-method': asked } }) {
      if (method !== 'OPTIONS' || origin === undefined || asked === undefined) return undefined;
      return list.has(origin) ? { isAllowed: true, headers: permissions } : { isAllowed: false };
    },
  };
}
