/** Rows of the API's own description: for machines and for people (contract §4). */
import type { GraphQLSchema } from 'graphql';
import { createOpenApi } from '../openapi/document.ts';
import { toReferencePage } from '../openapi/reference-page.ts';
import { rejectRequest } from '../query/faults.ts';
import { createParameters } from '../query/parameters.ts';
import type { LocalRow, Outcome, Row } from './row.ts';

const common = { method: 'GET', needsCaller: false, answers: { status: 200, shape: 'document' }, spec: 'contract §4' } as const;

/** Nothing on the page runs, and nothing is fetched for it from anywhere. */
const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** Documents take no parameter but the version. */
function refuseParameters(search: URLSearchParams): void {
  const parameters = createParameters(search);
  parameters.take('version');
  rejectRequest(parameters.faults());
}

/** All rows, with those that describe them. The documents are made once for each version, when they are first asked for. */
export function withDocuments(rows: readonly Row[], schema: GraphQLSchema): Row[] {
  const remembered = new Map<string, Outcome>();
  const once = (key: string, make: () => Outcome): Outcome => {
    const outcome = remembered.get(key) ?? make();
    remembered.set(key, outcome);
    return outcome;
  };
  const openApi: LocalRow = {
    ...common,
    path: '/openapi.json',
    summary: 'Describes the API for machines: OpenAPI 3.1',
    types: ['application/json'],
    answer: ({ version, search }) => {
      refuseParameters(search);
      return once(`json ${String(version)}`, () => {
        const bytes = Buffer.from(JSON.stringify(createOpenApi(all, { schema, version })));
        return { status: 200, document: { type: 'application/json; charset=utf-8', bytes } };
      });
    },
  };
  const docs: LocalRow = {
    ...common,
    path: '/docs',
    summary: 'Describes the API for people',
    types: ['text/html'],
    answer: ({ version, search }) => {
      refuseParameters(search);
      return once(`page ${String(version)}`, () => {
        const bytes = Buffer.from(toReferencePage(createOpenApi(all, { schema, version })));
        return { status: 200, headers: PAGE_HEADERS, document: { type: 'text/html; charset=utf-8', bytes } };
      });
    },
  };
  const all: Row[] = [...rows, openApi, docs];
  return all;
}
