/** The kinds of rows there are: a table of routes is written with these and nothing else (spec §4.1, §4.4). */
import { createBodyReader } from '../query/body.ts';
import { createListReader } from '../query/list.ts';
import { toListBody } from '../reply/list.ts';
import type { Resource } from '../reply/resource.ts';
import type { Reading, Row, RowRequest, Shown } from './row.ts';

interface Common {
  readonly path: string;
  readonly operation: string;
  readonly resource: Resource;
  readonly needsCaller?: boolean;
  readonly spec: string;
}

export interface ListOptions extends Common {
  /** The GraphQL input type whose fields become query parameters. */
  readonly filter: string;
  /** The GraphQL enum whose values become names for `sort`. */
  readonly order: string;
  /** Other names for parameters: `{minPrice: 'price_gte'}`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Filters that the path already settles. */
  readonly without?: readonly string[];
}

/** `GET` of one resource: 200, or 404 when there is none (spec §7.3). */
export function getOne(options: Common): Row {
  return {
    ...base('GET', options),
    createReader: () => readParams,
    reply: (answer, show) => shown(200, show(answer)),
  };
}

/** `GET` of a list in its envelope (spec §4.4). */
export function getList(options: ListOptions): Row {
  return {
    ...base('GET', options),
    createReader: (schema) => {
      const readList = createListReader(schema, options);
      return (request, faults) => {
        const list = readList(request.query, faults);
        return { ...list, variables: { ...request.params, ...list.variables } };
      };
    },
    reply: toListBody,
  };
}

/** `GET` of a short list that belongs to one resource and has no pages: `{data: […]}`. */
export function getParts(options: Common): Row {
  return {
    ...base('GET', options),
    createReader: () => readParams,
    reply: (answer, show) => ({ status: 200, body: { data: (answer as unknown[]).map((part) => show(part).body) } }),
  };
}

/** `POST` of a new resource: 201 with `Location` (spec §4.1). */
export function create(options: Common & { readonly input: string; readonly location: (body: Record<string, unknown>) => string }): Row {
  return {
    ...base('POST', options),
    takesBody: true,
    createReader: (schema) => {
      const readBody = createBodyReader(schema, { input: options.input, mode: 'create', resource: options.resource });
      return ({ params, body }, faults) => ({ variables: { ...params, input: readBody(body, faults) } });
    },
    reply: (answer, show, { prefix }) => {
      const { body, version } = show(answer);
      return { status: 201, body, version, headers: { location: `${prefix}${options.location(body)}` } };
    },
  };
}

/** `PUT`: replaces the whole resource; fields left out are cleared, those named `required` must be there (spec §4.1). */
export function replace(
  options: Common & { readonly input: string; readonly required: readonly string[]; readonly cleared: readonly string[] },
): Row {
  return write('PUT', options, { mode: 'replace', required: options.required, cleared: options.cleared });
}

/** `PATCH`: changes the fields that are there; `null` clears (RFC 7396). */
export function merge(options: Common & { readonly input: string }): Row {
  return write('PATCH', options, { mode: 'merge' });
}

/** `DELETE`: 204 (spec §4.1). */
export function remove(options: Common): Row {
  return { ...base('DELETE', options), createReader: () => readParams, reply: () => ({ status: 204 }) };
}

/** `POST` of an action on a resource, without a body: 200 with the resource as it then is. */
export function act(options: Common): Row {
  return { ...base('POST', options), createReader: () => readParams, reply: (answer, show) => shown(200, show(answer)) };
}

function write(
  method: 'PUT' | 'PATCH',
  options: Common & { readonly input: string },
  rule: { mode: 'replace' | 'merge'; required?: readonly string[]; cleared?: readonly string[] },
): Row {
  return {
    ...base(method, options),
    takesBody: true,
    createReader: (schema) => {
      const readBody = createBodyReader(schema, { input: options.input, resource: options.resource, ...rule });
      return ({ params, body }, faults) => ({ variables: { ...params, input: readBody(body, faults) } });
    },
    reply: (answer, show) => shown(200, show(answer)),
  };
}

function base(method: Row['method'], { path, operation, resource, needsCaller = false, spec }: Common) {
  return { method, path, operation, resource, needsCaller, spec, takesBody: false };
}

function readParams({ params }: RowRequest): Reading {
  return { variables: params };
}

function shown(status: number, { body, version }: Shown) {
  return { status, body, version };
}
