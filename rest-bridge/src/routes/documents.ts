/** Rows of the API's own description: for machines and for people (contract §4). */
import type { GraphQLSchema } from 'graphql';
import { accepts, readAccept } from '../http/accept.ts';
import type { Addresses } from '../http/addresses.ts';
import { PAGE_TYPE, toPageHeaders } from '../http/page.ts';
import { createOpenApi } from '../openapi/document.ts';
import { REFERENCE_STYLE, toReferencePage } from '../openapi/reference-page.ts';
import { rejectRequest } from '../query/faults.ts';
import { createParameters } from '../query/parameters.ts';
import { INDEX_STYLE, toIndex, toIndexPage } from '../reply/index-page.ts';
import type { LocalRequest, LocalRow, Outcome, Row } from './row.ts';

const common = { method: 'GET', needsCaller: false, answers: { status: 200, shape: 'document' }, spec: 'contract §4' } as const;

/** Documents take no parameter but the version. */
function refuseParameters(search: URLSearchParams): void {
  const parameters = createParameters(search);
  parameters.take('version');
  rejectRequest(parameters.faults());
}

export interface DocumentOptions {
  readonly schema: GraphQLSchema;
  readonly addresses: Addresses;
}

/** All rows, with those that describe them. */
export function withDocuments(rows: readonly Row[], { schema, addresses }: DocumentOptions): Row[] {
  const remember = createMemory();
  const describe = ({ version, request }: LocalRequest) => createOpenApi(all, { schema, version }, addresses.bridge(request));
  const toKey = (kind: string, { version, request }: LocalRequest) => `${kind} ${String(version)} ${addresses.bridge(request)}`;
  const openApi: LocalRow = {
    ...common,
    path: '/openapi.json',
    summary: 'Describes the API for machines: OpenAPI 3.1',
    types: ['application/json'],
    answer: (asked) => {
      refuseParameters(asked.search);
      return remember(toKey('json', asked), () => {
        const bytes = Buffer.from(JSON.stringify(describe(asked)));
        return { status: 200, document: { type: 'application/json; charset=utf-8', bytes } };
      });
    },
  };
  const docs: LocalRow = {
    ...common,
    path: '/docs',
    summary: 'Describes the API for people',
    types: ['text/html'],
    answer: (asked) => {
      refuseParameters(asked.search);
      return remember(toKey('page', asked), () => {
        const bytes = Buffer.from(toReferencePage(describe(asked)));
        return { status: 200, headers: toPageHeaders(REFERENCE_STYLE), document: { type: PAGE_TYPE, bytes } };
      });
    },
  };
  const all: Row[] = [...rows, createIndexRow(addresses), openApi, docs];
  return all;
}

/** `GET /`: a page for browsers, links for everything else. */
function createIndexRow(addresses: Addresses): LocalRow {
  return {
    ...common,
    path: '/',
    summary: 'Shows where everything is',
    types: ['application/json', 'text/html'],
    answer: ({ search, prefix, request }) => {
      refuseParameters(search);
      const index = toIndex({ bridge: addresses.bridge(request), gateway: addresses.gateway(request), prefix });
      const ranges = readAccept(request.headers.accept);
      // Programs that take anything say so; only browsers prefer pages.
      if (accepts(ranges, 'text/html') <= accepts(ranges, 'application/json')) return { status: 200, body: index };
      return { status: 200, headers: toPageHeaders(INDEX_STYLE), document: { type: PAGE_TYPE, bytes: Buffer.from(toIndexPage(index)) } };
    },
  };
}

/** A client may name any host; this many documents are kept, others are made each time. */
const MAX_REMEMBERED = 16;

/** Keeps documents by their version and address. */
function createMemory(): (key: string, make: () => Outcome) => Outcome {
  const remembered = new Map<string, Outcome>();
  return (key, make) => {
    const outcome = remembered.get(key) ?? make();
    if (remembered.size < MAX_REMEMBERED) remembered.set(key, outcome);
    return outcome;
  };
}
