/** Routes that describe the API: the OpenAPI and AsyncAPI documents, the reference page and the index (contract §4). */
import type { GraphQLSchema } from 'graphql';
import { toAcceptedTypes } from '@trestle/service/messages/accept';
import type { Addresses } from '../http/addresses.ts';
import { JSON_TYPE } from '../http/media-types.ts';
import { PAGE_TYPE, toPageHeaders } from '@trestle/service/messages/page';
import type { RouteResponse } from '../http/response.ts';
import { createParameters } from '../query/parameters.ts';
import { rejectRequest } from '../query/reject-request.ts';
import type { LocalRequest, LocalRoute, Route } from '../routes/route.ts';
import { createAsyncApi } from '../asyncapi/document.ts';
import { createOpenApi } from './document.ts';
import { INDEX_STYLE, toIndex, toIndexPage } from './index-page.ts';
import { REFERENCE_STYLE, toReferencePage } from './reference-page.ts';

const common = { method: 'GET', needsCaller: false, success: { status: 200, content: 'document' }, spec: 'contract §4' } as const;

/** Throws VALIDATION_ERROR for parameters other than `version`. */
function rejectParameters(search: URLSearchParams): void {
  const parameters = createParameters(search);
  parameters.take('version');
  rejectRequest(parameters.faults());
}

/** What the documents are made from. */
export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly addresses: Addresses;
  /** Returns the public keys of access tokens, for `/.well-known/jwks.json`. */
  readonly publicKeys: () => readonly object[];
}

/** Returns all routes: the given ones, and those that describe them. */
export function withDocumentRoutes(routes: readonly Route[], { schema, addresses, publicKeys }: DocumentOptions): Route[] {
  const cached = createCache();
  const describe = ({ version, request }: LocalRequest) => createOpenApi(all, { schema, version }, addresses.bridge(request));
  const toKey = (kind: string, { version, request }: LocalRequest) => `${kind} ${String(version)} ${addresses.bridge(request)}`;
  const openApi: LocalRoute = {
    ...common,
    path: '/openapi.json',
    summary: 'Returns the OpenAPI 3.1 document',
    types: ['application/json'],
    respond: (request) => {
      rejectParameters(request.search);
      return cached(toKey('json', request), () => {
        const bytes = Buffer.from(JSON.stringify(describe(request)));
        return { status: 200, document: { type: JSON_TYPE, bytes } };
      });
    },
  };
  const asyncApi: LocalRoute = {
    ...common,
    path: '/asyncapi.json',
    summary: 'Returns the AsyncAPI 3 document of events, webhooks and subscriptions',
    types: ['application/json'],
    respond: (request) => {
      rejectParameters(request.search);
      return cached(toKey('async', request), () => {
        const described = { bridge: addresses.bridge(request.request), gateway: addresses.gateway(request.request) };
        const bytes = Buffer.from(JSON.stringify(createAsyncApi(schema, described)));
        return { status: 200, document: { type: JSON_TYPE, bytes } };
      });
    },
  };
  const docs: LocalRoute = {
    ...common,
    path: '/docs',
    summary: 'Returns the reference page',
    types: ['text/html'],
    respond: (request) => {
      rejectParameters(request.search);
      return cached(toKey('page', request), () => {
        const bytes = Buffer.from(toReferencePage(describe(request)));
        return { status: 200, headers: toPageHeaders(REFERENCE_STYLE), document: { type: PAGE_TYPE, bytes } };
      });
    },
  };
  const all: Route[] = [...routes, createIndexRoute(addresses), openApi, asyncApi, docs, createKeysRoute(publicKeys)];
  return all;
}

/** Verifiers may keep the keys for so long: less than what a rotation with `--delay 300` waits before it signs with a new key. */
const KEYS_CACHE = 'public, max-age=60, stale-if-error=3600';

/** Returns `GET /.well-known/jwks.json`: the keys that verify access tokens (RFC 7517, RFC 8615). */
function createKeysRoute(publicKeys: DocumentOptions['publicKeys']): LocalRoute {
  return {
    ...common,
    path: '/.well-known/jwks.json',
    ignoresCredential: true,
    summary: 'Returns the public keys of access tokens, as a JSON Web Key Set',
    types: ['application/json'],
    respond: ({ search }) => {
      rejectParameters(search);
      const bytes = Buffer.from(JSON.stringify({ keys: publicKeys() }));
      return { status: 200, gatewayPolicy: KEYS_CACHE, document: { type: JSON_TYPE, bytes } };
    },
  };
}

/** Returns `GET /`: a page for browsers, JSON for other clients. */
function createIndexRoute(addresses: Addresses): LocalRoute {
  return {
    ...common,
    path: '/',
    summary: 'Returns links to the documentation, GraphQL and health checks',
    types: ['application/json', 'text/html'],
    respond: ({ search, prefix, request }) => {
      rejectParameters(search);
      const { registry } = addresses;
      const index = toIndex({ bridge: addresses.bridge(request), gateway: addresses.gateway(request), registry, prefix });
      // Browsers prefer HTML. A client that accepts anything gets JSON.
      if (toAcceptedTypes(request.headers.accept, [JSON_TYPE, PAGE_TYPE])[0] !== PAGE_TYPE) return { status: 200, body: index };
      return { status: 200, headers: toPageHeaders(INDEX_STYLE), document: { type: PAGE_TYPE, bytes: Buffer.from(toIndexPage(index)) } };
    },
  };
}

/** A client may send any `Host`, so that the number of documents is bounded. Others are created for each request. */
const MAX_CACHED_DOCUMENTS = 16;

/** Creates a cache of documents by version and address. */
function createCache(): (key: string, create: () => RouteResponse) => RouteResponse {
  const documents = new Map<string, RouteResponse>();
  return (key, create) => {
    const document = documents.get(key) ?? create();
    if (documents.size < MAX_CACHED_DOCUMENTS) documents.set(key, document);
    return document;
  };
}
