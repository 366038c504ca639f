/** The kinds of rows there are: a table of routes is written with these and nothing else (spec §4.1, §4.4). */
import { fail } from '@trestle/schema/errors';
import type { ListRule } from '../query/list.ts';
import { toListBody } from '../reply/list.ts';
import type { Resource } from '../reply/resource.ts';
import type { Alternative, LocalRow, Method, OperationRow, Outcome, Shown } from './row.ts';

interface Common {
  readonly path: string;
  readonly operation: string;
  readonly resource: Resource;
  readonly summary: string;
  readonly needsCaller?: boolean;
  readonly spec: string;
}

/** `GET` of one resource: 200, or 404 when there is none (spec §7.3). */
export function getOne(options: Common & { readonly alternatives?: readonly Alternative[] }): OperationRow {
  return {
    ...base('GET', options),
    ...(options.alternatives && { alternatives: options.alternatives }),
    reads: { kind: 'path' },
    answers: { status: 200, shape: 'resource' },
    reply: (answer, show) => shown(200, show(answer)),
  };
}

/** `GET` of a list in its envelope (spec §4.4). */
export function getList(options: Common & ListRule): OperationRow {
  return { ...base('GET', options), reads: { kind: 'list', rule: options }, answers: { status: 200, shape: 'list' }, reply: toListBody };
}

/** `GET` of a short list that belongs to one resource and has no pages: `{data: […]}`. */
export function getParts(options: Common): OperationRow {
  return {
    ...base('GET', options),
    reads: { kind: 'path' },
    answers: { status: 200, shape: 'parts' },
    reply: (answer, show) => ({ status: 200, body: { data: (answer as unknown[]).map((part) => show(part).body) } }),
  };
}

interface CreateOptions extends Common {
  readonly input: string;
  readonly location: (body: Record<string, unknown>) => string;
  /** Fields that the path gives, by their names there. */
  readonly fromPath?: Readonly<Record<string, string>>;
  readonly idempotency?: 'needed';
}

/** `POST` of a new resource: 201 with `Location` (spec §4.1). */
export function create({ location, ...options }: CreateOptions): OperationRow {
  const { input, fromPath, resource, idempotency } = options;
  return {
    ...base('POST', options),
    ...(idempotency && { idempotency }),
    reads: { kind: 'body', rule: { input, mode: 'create', resource, ...(fromPath && { fromPath }) } },
    answers: { status: 201, shape: 'resource' },
    reply: (answer, show, { prefix }) => {
      const one = show(answer);
      return { ...shown(201, one), headers: { location: `${prefix}${location({ ...(answer as object), ...one.body })}` } };
    },
  };
}

interface ReplaceOptions extends Common {
  readonly input: string;
  readonly required: readonly string[];
  /** What a replacement clears when it leaves it out, and to what. */
  readonly cleared: Readonly<Record<string, unknown>>;
  readonly mayCreate?: boolean;
}

/** `PUT`: replaces the whole resource; fields left out are cleared, those named `required` must be there (spec §4.1). */
export function replace(options: ReplaceOptions): OperationRow {
  const { input, resource, required, cleared, mayCreate = false } = options;
  return {
    ...base('PUT', options),
    mayCreate,
    changes: 'itself',
    reads: { kind: 'body', rule: { input, mode: 'replace', resource, required, cleared } },
    answers: { status: 200, shape: 'resource' },
    reply: (answer, show, { prefix, path }) => {
      const one = show(answer);
      // What has its first version has just been made.
      return mayCreate && one.version === 1 ? { ...shown(201, one), headers: { location: `${prefix}${path}` } } : shown(200, one);
    },
  };
}

/** `PATCH`: changes the fields that are there; `null` clears (RFC 7396). */
export function merge(options: Common & { readonly input: string }): OperationRow {
  const { input, resource } = options;
  return {
    ...base('PATCH', options),
    changes: 'itself',
    reads: { kind: 'body', rule: { input, mode: 'merge', resource } },
    answers: { status: 200, shape: 'resource' },
    reply: (answer, show) => shown(200, show(answer)),
  };
}

/** `DELETE`: 204 (spec §4.1). */
export function remove(options: Common): OperationRow {
  return {
    ...base('DELETE', options),
    changes: 'itself',
    reads: { kind: 'path' },
    answers: { status: 204, shape: 'nothing' },
    reply: () => ({ status: 204 }),
  };
}

/** `POST` of an action on the resource above, without a body: 200 with the resource as it then is. */
export function act(options: Common): OperationRow {
  return {
    ...base('POST', options),
    changes: 'above',
    reads: { kind: 'path' },
    answers: { status: 200, shape: 'resource' },
    reply: (answer, show) => shown(200, show(answer)),
  };
}

interface AnnouncedOptions {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly needsCaller?: boolean;
  readonly spec: string;
}

/** A route that is promised and has nothing behind it yet: 501, never an invented result. */
export function announced({ needsCaller = true, ...options }: AnnouncedOptions): LocalRow {
  return {
    ...options,
    needsCaller,
    types: ['application/json'],
    answers: { status: 501, shape: 'announced' },
    answer: () => {
      throw fail('NOT_IMPLEMENTED', 'This is announced, and not there yet');
    },
  };
}

function base(method: Method, { path, operation, resource, summary, needsCaller = false, spec }: Common) {
  return { method, path, operation, resource, summary, needsCaller, spec };
}

function shown(status: number, { body, version, changedAt }: Shown): Outcome {
  return { status, body, version, changedAt };
}
